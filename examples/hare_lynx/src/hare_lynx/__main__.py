"""`python -m hare_lynx`: fits the model, prints what was found, and draws hare_lynx.svg in the working directory."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from hare_lynx.data import load
from hare_lynx.fit import START, difference_from_finite_differences, fit, microseconds
from hare_lynx.model import PARAMETERS, negative_log_likelihood
from hare_lynx.picture import draw


def main() -> None:
    counts = load()
    hares, lynxes = counts.hares, counts.lynxes
    start = negative_log_likelihood(START, hares, lynxes)
    found = fit(counts)
    gradient = microseconds(lambda: negative_log_likelihood.value_and_grad(found.x, hares, lynxes))
    primal = microseconds(lambda: negative_log_likelihood(found.x, hares, lynxes))
    difference = difference_from_finite_differences(counts, START)

    print(f"Hares and lynxes, {counts.years[0]} to {counts.years[-1]}: {2 * len(counts.years)} counts")
    print(f"negative log likelihood at the start    {start:.8g}")
    print(f"negative log likelihood at the minimum  {found.minimum:.8g}")
    for name, value in zip(PARAMETERS, np.exp(found.x), strict=True):
        print(f"  {name:<10}  {value:#.6g}")
    print(f"evaluations                             {found.evaluations}")
    print(f"microseconds a gradient                 {gradient:.1f}")
    print(f"gradient/primal                         {gradient / primal:.2f}")
    print(f"largest relative difference from finite differences  {difference:.1e}")
    picture = Path("hare_lynx.svg")
    picture.write_text(draw(counts, found.x), encoding="utf-8")
    print(f"data and fit drawn in {picture}")


if __name__ == "__main__":
    main()
