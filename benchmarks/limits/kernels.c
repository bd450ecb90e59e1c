/* The practical limit: functions of benchmarks/functions.py and their value-and-gradient, written by hand.

   One signature for all: arrays, sizes, scalars. The comment above a pair says what they take. p_ is the function, g_
   the value with the gradient. time_loop times one of them; it is compiled without fast-math flags. */

#include <math.h>
#include <time.h>

#define R __restrict__
typedef double (*kernel)(double **a, const long *n, const double *s);

double time_loop(kernel f, double **a, const long *n, const double *s, long count) {
  struct timespec start, end;
  volatile double sink;
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (long i = 0; i < count; i++) sink = f(a, n, s);
  clock_gettime(CLOCK_MONOTONIC, &end);
  (void)sink;
  return ((end.tv_sec - start.tv_sec) + 1e-9 * (end.tv_nsec - start.tv_nsec)) / count;
}

/* sum_sin: a = x, gradient; n = length */
double p_sum_sin(double **a, const long *n, const double *s) {
  const double *R x = a[0];
  double v = 0;
  for (long i = 0; i < n[0]; i++) v += sin(x[i]);
  return v;
}

double g_sum_sin(double **a, const long *n, const double *s) {
  const double *R x = a[0];
  double *R g = a[1], v = 0;
  for (long i = 0; i < n[0]; i++) {
    v += sin(x[i]);
    g[i] = cos(x[i]);
  }
  return v;
}

/* rosenbrock: a = x, gradient; n = length */
double p_rosenbrock(double **a, const long *n, const double *s) {
  const double *R x = a[0];
  double v = 0;
  for (long i = 0; i + 1 < n[0]; i++) {
    double t = x[i + 1] - x[i] * x[i], u = 1 - x[i];
    v += 100 * t * t + u * u;
  }
  return v;
}

/* No value is carried from one iteration to the next but the sum, so it vectorises. */
double g_rosenbrock(double **a, const long *n, const double *s) {
  const double *R x = a[0];
  double *R g = a[1];
  long last = n[0] - 1;
  double t0 = x[1] - x[0] * x[0], u0 = 1 - x[0], v = 100 * t0 * t0 + u0 * u0;
  g[0] = -400 * t0 * x[0] - 2 * u0;
  for (long i = 1; i < last; i++) {
    double before = x[i] - x[i - 1] * x[i - 1], t = x[i + 1] - x[i] * x[i], u = 1 - x[i];
    v += 100 * t * t + u * u;
    g[i] = 200 * before - 400 * t * x[i] - 2 * u;
  }
  g[last] = 200 * (x[last] - x[last - 1] * x[last - 1]);
  return v;
}

/* ode_rk4, Lotka-Volterra: a = parameters, data of x, data of y, gradient, workspace of 2*steps + 2; n = steps; s = step */
#define SLOPE(dx, dy, x, y) double dx = al * (x) - be * (x) * (y), dy = de * (x) * (y) - ga * (y);
#define STEP(x, y)                                           \
  SLOPE(k1x, k1y, x, y)                                      \
  SLOPE(k2x, k2y, x + 0.5 * h * k1x, y + 0.5 * h * k1y)      \
  SLOPE(k3x, k3y, x + 0.5 * h * k2x, y + 0.5 * h * k2y)      \
  SLOPE(k4x, k4y, x + h * k3x, y + h * k3y)                  \
  x = x + (h / 6) * (k1x + 2 * k2x + 2 * k3x + k4x);         \
  y = y + (h / 6) * (k1y + 2 * k2y + 2 * k3y + k4y);

double p_ode_rk4(double **a, const long *n, const double *s) {
  double al = a[0][0], be = a[0][1], de = a[0][2], ga = a[0][3], h = s[0], x = 1, y = 1, v = 0;
  for (long t = 0; t < n[0]; t++) {
    STEP(x, y)
    double ex = x - a[1][t], ey = y - a[2][t];
    v += ex * ex + ey * ey;
  }
  return v / n[0];
}

/* Cotangents (ox, oy) of SLOPE's results, added to those of its operands and of the parameters. */
#define SLOPE_REVERSED(bx, by, x, y, ox, oy)           \
  {                                                    \
    double X = (x), Y = (y);                           \
    d_ga -= (oy) * Y;                                  \
    d_al += (ox) * X;                                  \
    d_be -= (ox) * X * Y;                              \
    d_de += (oy) * X * Y;                              \
    bx += (ox) * (al - be * Y) + (oy) * de * Y;        \
    by += -(ox) * be * X + (oy) * (de * X - ga);       \
  }

/* Stores the two states of each step and recomputes its stages. */
double g_ode_rk4(double **a, const long *n, const double *s) {
  double al = a[0][0], be = a[0][1], de = a[0][2], ga = a[0][3], h = s[0], x = 1, y = 1, v = 0;
  const double *R to_x = a[1], *R to_y = a[2];
  double *R w = a[4];
  long steps = n[0];
  for (long t = 0; t < steps; t++) {
    w[2 * t] = x;
    w[2 * t + 1] = y;
    STEP(x, y)
    double ex = x - to_x[t], ey = y - to_y[t];
    v += ex * ex + ey * ey;
  }
  w[2 * steps] = x;
  w[2 * steps + 1] = y;
  double bx = 0, by = 0, d_al = 0, d_be = 0, d_de = 0, d_ga = 0, c = 2.0 / steps;
  for (long t = steps - 1; t >= 0; t--) {
    bx += c * (w[2 * t + 2] - to_x[t]);
    by += c * (w[2 * t + 3] - to_y[t]);
    double x0 = w[2 * t], y0 = w[2 * t + 1];
    SLOPE(k1x, k1y, x0, y0)
    double x1 = x0 + 0.5 * h * k1x, y1 = y0 + 0.5 * h * k1y;
    SLOPE(k2x, k2y, x1, y1)
    double x2 = x0 + 0.5 * h * k2x, y2 = y0 + 0.5 * h * k2y;
    SLOPE(k3x, k3y, x2, y2)
    double x3 = x0 + h * k3x, y3 = y0 + h * k3y;
    double b1x = (h / 6) * bx, b1y = (h / 6) * by, b2x = 2 * b1x, b2y = 2 * b1y;
    double b3x = b2x, b3y = b2y, b4x = b1x, b4y = b1y, sumx = bx, sumy = by;
    double tx = 0, ty = 0;
    SLOPE_REVERSED(tx, ty, x3, y3, b4x, b4y)
    sumx += tx, sumy += ty, b3x += h * tx, b3y += h * ty;
    tx = ty = 0;
    SLOPE_REVERSED(tx, ty, x2, y2, b3x, b3y)
    sumx += tx, sumy += ty, b2x += 0.5 * h * tx, b2y += 0.5 * h * ty;
    tx = ty = 0;
    SLOPE_REVERSED(tx, ty, x1, y1, b2x, b2y)
    sumx += tx, sumy += ty, b1x += 0.5 * h * tx, b1y += 0.5 * h * ty;
    SLOPE_REVERSED(sumx, sumy, x0, y0, b1x, b1y)
    bx = sumx;
    by = sumy;
  }
  a[3][0] = d_al;
  a[3][1] = d_be;
  a[3][2] = d_de;
  a[3][3] = d_ga;
  return v / steps;
}
