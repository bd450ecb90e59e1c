"""Statistics, filters and sums over data."""

import numpy as np

from adcore import autodiff
from adcore.typing import Array1, Matrix, Vector


@autodiff(mode="both")
def covariance(columns: int, count: float, data: Matrix) -> Matrix:
    mean = np.mean(data, axis=0)
    data -= mean
    cov = np.zeros((columns, columns), dtype=data.dtype)
    for i in range(columns):
        cov[i:columns, i] = cov[i, i:columns] = data[:, i] @ data[:, i:columns] / (count - 1.0)
    return cov


@autodiff(mode="both")
def covariance2(data: Matrix) -> Matrix:
    return np.cov(np.transpose(data))


@autodiff(mode="both")
def correlation(columns: int, count: float, data: Matrix) -> Matrix:
    mean = np.mean(data, axis=0)
    std = np.std(data, axis=0)
    std[std <= 0.1] = 1.0
    data -= mean
    data /= np.sqrt(count) * std
    corr = np.eye(columns, dtype=data.dtype)
    for i in range(columns - 1):
        corr[i + 1 : columns, i] = corr[i, i + 1 : columns] = data[:, i] @ data[:, i + 1 : columns]
    return corr


@autodiff(mode="both")
def deriche(alpha: float, image: Matrix) -> Matrix:
    """Deriche's recursive filter, smoothing: along the rows, then along the columns, each forth and back."""
    k = (1.0 - np.exp(-alpha)) ** 2 / (1.0 + 2.0 * alpha * np.exp(-alpha) - np.exp(2.0 * alpha))
    a1 = a5 = k
    a2 = a6 = k * np.exp(-alpha) * (alpha - 1.0)
    a3 = a7 = k * np.exp(-alpha) * (alpha + 1.0)
    a4 = a8 = -k * np.exp(-2.0 * alpha)
    b1 = 2.0 ** (-alpha)
    b2 = -np.exp(-2.0 * alpha)
    c1 = c2 = 1

    forth = np.empty_like(image)
    forth[:, 0] = a1 * image[:, 0]
    forth[:, 1] = a1 * image[:, 1] + a2 * image[:, 0] + b1 * forth[:, 0]
    for j in range(2, image.shape[1]):
        forth[:, j] = a1 * image[:, j] + a2 * image[:, j - 1] + b1 * forth[:, j - 1] + b2 * forth[:, j - 2]
    back = np.empty_like(image)
    back[:, -1] = 0.0
    back[:, -2] = a3 * image[:, -1]
    for j in range(image.shape[1] - 3, -1, -1):
        back[:, j] = a3 * image[:, j + 1] + a4 * image[:, j + 2] + b1 * back[:, j + 1] + b2 * back[:, j + 2]
    rows = c1 * (forth + back)

    forth[0, :] = a5 * rows[0, :]
    forth[1, :] = a5 * rows[1, :] + a6 * rows[0, :] + b1 * forth[0, :]
    for i in range(2, image.shape[0]):
        forth[i, :] = a5 * rows[i, :] + a6 * rows[i - 1, :] + b1 * forth[i - 1, :] + b2 * forth[i - 2, :]
    back[-1, :] = 0.0
    back[-2, :] = a7 * rows[-1, :]
    for i in range(image.shape[0] - 3, -1, -1):
        back[i, :] = a7 * rows[i + 1, :] + a8 * rows[i + 2, :] + b1 * back[i + 1, :] + b2 * back[i + 2, :]
    return c2 * (forth + back)


@autodiff(mode="both")
def azimint_naive(data: Vector, radius: Vector, bins: int) -> Vector:
    """Azimuthal integration: the mean of the data in each ring."""
    rmax = radius.max()
    res = np.zeros(bins)
    for i in range(bins):
        inner = rmax * i / bins
        outer = rmax * (i + 1) / bins
        ring = np.logical_and(inner <= radius, radius < outer)
        values = data[ring]
        res[i] = values.mean()
    return res


@autodiff(mode="both")
def arc_distance(theta_1: Vector, phi_1: Vector, theta_2: Vector, phi_2: Vector) -> Vector:
    """Distances on the unit sphere (haversine formula)."""
    half = np.sin((theta_2 - theta_1) / 2) ** 2 + np.cos(theta_1) * np.cos(theta_2) * np.sin((phi_2 - phi_1) / 2) ** 2
    return 2 * np.arctan2(np.sqrt(half), np.sqrt(1 - half))


@autodiff(mode="both")
def go_fast(a: Matrix) -> Matrix:
    trace = 0.0
    for i in range(a.shape[0]):
        trace += np.tanh(a[i, i])
    return a + trace


@autodiff(mode="both")
def spmv(starts: Array1[np.int64], columns: Array1[np.int64], values: Vector, x: Vector) -> Vector:
    """A matrix in compressed rows times a vector."""
    y = np.empty(starts.size - 1, values.dtype)
    for i in range(starts.size - 1):
        cols = columns[starts[i] : starts[i + 1]]
        vals = values[starts[i] : starts[i + 1]]
        y[i] = vals @ x[cols]
    return y
