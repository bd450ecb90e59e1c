// Primal functions, plain C.
// All arrays float64, row-major (NumPy C order). Sizes are run-time arguments.
#pragma once
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define R __restrict__
#define PI_ 3.14159265358979323846
#define SI static inline __attribute__((always_inline))

SI double P_sum(const double *R x, long n) { double s = 0; for (long i = 0; i < n; i++) s += x[i]; return s; }
SI double P_sumsin(const double *R x, long n) { double s = 0; for (long i = 0; i < n; i++) s += sin(x[i]); return s; }

// sum(kron(x,y)), kron materialised in workspace K; x is (a,b) with row stride ldx, y is (c,d); tri!=0: only upper triangle of y counts
SI double P_kron_mat(const double *R x, long a, long b, long ldx, const double *R y, long c, long d, int tri, double *R K) {
  for (long i = 0; i < a; i++) for (long k = 0; k < c; k++) {
    double *R row = K + (i * c + k) * (b * d); const double *R yr = y + k * d;
    for (long j = 0; j < b; j++) { double xv = x[i * ldx + j];
      if (tri) { for (long l = 0; l < k; l++) row[j * d + l] = 0.0; for (long l = k; l < d; l++) row[j * d + l] = xv * yr[l]; }
      else for (long l = 0; l < d; l++) row[j * d + l] = xv * yr[l]; } }
  double s = 0; long N = a * b * c * d; for (long i = 0; i < N; i++) s += K[i]; return s;
}
// same value, kron never materialised (what a fusing compiler can emit)
SI double P_kron_fused(const double *R x, long a, long b, long ldx, const double *R y, long c, long d, int tri) {
  double s = 0;
  for (long i = 0; i < a; i++) for (long j = 0; j < b; j++) { double xv = x[i * ldx + j];
    for (long k = 0; k < c; k++) for (long l = tri ? k : 0; l < d; l++) s += xv * y[k * d + l]; }
  return s;
}
// naive_map: store into y, then sum
SI double P_map_naive(const double *R x, double *R y, long n) {
  for (long i = 0; i < n; i++) y[i] = sin(cos(exp(x[i])));
  double s = 0; for (long i = 0; i < n; i++) s += y[i]; return s;
}
SI double P_map_fused(const double *R x, long n) { double s = 0; for (long i = 0; i < n; i++) s += sin(cos(exp(x[i]))); return s; }

// ---- BLAS / LAPACK (OpenBLAS bundled with numpy, ILP64)
extern void cblas_dgemm64_(int order, int ta, int tb, int64_t m, int64_t n, int64_t k, double alpha, const double *A, int64_t lda, const double *B, int64_t ldb, double beta, double *C, int64_t ldc);
#define ROW 101
#define NT 111
#define TR 112
// simple_mlp: v = sum((Y - W2*relu(W1*X))^2); W1 (h,p) X (p,q) W2 (o,h) Y (o,q); ws: A (h,q) H (h,q) E (o,q)
SI double P_mlp(const double *R W2, const double *R W1, const double *R Y, const double *R X, long o, long h, long p, long q, double *R A, double *R H, double *R E) {
  cblas_dgemm64_(ROW, NT, NT, h, q, p, 1.0, W1, p, X, q, 0.0, A, q);
  for (long i = 0; i < h * q; i++) H[i] = A[i] >= 0 ? A[i] : 0.0;
  cblas_dgemm64_(ROW, NT, NT, o, q, h, 1.0, W2, h, H, q, 0.0, E, q);
  double s = 0; for (long i = 0; i < o * q; i++) { double e = Y[i] - E[i]; s += e * e; }
  return s;
}
// the same with plain loops instead of BLAS (i-k-j order)
SI double P_mlp_loop(const double *R W2, const double *R W1, const double *R Y, const double *R X, long o, long h, long p, long q, double *R A, double *R H, double *R E) {
  for (long i = 0; i < h; i++) { for (long j = 0; j < q; j++) A[i * q + j] = 0; for (long k = 0; k < p; k++) for (long j = 0; j < q; j++) A[i * q + j] += W1[i * p + k] * X[k * q + j]; }
  for (long i = 0; i < h * q; i++) H[i] = A[i] >= 0 ? A[i] : 0.0;
  for (long i = 0; i < o; i++) { for (long j = 0; j < q; j++) E[i * q + j] = 0; for (long k = 0; k < h; k++) for (long j = 0; j < q; j++) E[i * q + j] += W2[i * h + k] * H[k * q + j]; }
  double s = 0; for (long i = 0; i < o * q; i++) { double e = Y[i] - E[i]; s += e * e; }
  return s;
}
// gp_lml with hand-written Cholesky loops (row-major lower), without BLAS
SI double P_gp_loop(const double *R x, const double *R y, double s, long n, double *R L, double *R z) {
  for (long i = 0; i < n; i++) for (long j = 0; j <= i; j++) { double d = x[i] - x[j]; L[i * n + j] = exp(-0.5 * d * d) + (i == j ? s : 0.0); }
  double logdet = 0;
  for (long j = 0; j < n; j++) {
    double d = L[j * n + j]; for (long k = 0; k < j; k++) d -= L[j * n + k] * L[j * n + k];
    d = sqrt(d); L[j * n + j] = d; logdet += 2 * log(d); double inv = 1.0 / d;
    for (long i = j + 1; i < n; i++) { double t = L[i * n + j]; for (long k = 0; k < j; k++) t -= L[i * n + k] * L[j * n + k]; L[i * n + j] = t * inv; }
  }
  double q = 0;
  for (long i = 0; i < n; i++) { double t = y[i]; for (long k = 0; k < i; k++) t -= L[i * n + k] * z[k]; t /= L[i * n + i]; z[i] = t; q += t * t; }
  return -0.5 * (n * log(2 * PI_) + logdet + q);
}
// turing_broadcast: log joint of  mu,sigma ~ truncated(Normal(1,2),0.1,10); x_i ~ LogNormal(mu,sigma), in unconstrained u (logit link + log-Jacobian)
SI double P_turing_prior(double u, double *th) {
  double a = 0.1, b = 10.0, sg = 1.0 / (1.0 + exp(-u)); double t = a + (b - a) * sg; *th = t;
  double z = (t - 1.0) / 2.0;
  // log(Phi((10-1)/2)-Phi((0.1-1)/2))
  const double lZ = -0.3950573837976776;
  return -0.5 * z * z - log(2.0) - 0.5 * log(2 * PI_) - lZ + log((b - a) * sg * (1.0 - sg));
}
SI double P_turing(const double *R u, const double *R x, long n) {
  double mu, sg; double v = P_turing_prior(u[0], &mu) + P_turing_prior(u[1], &sg);
  double ls = log(sg), inv = 1.0 / sg, c = 0.5 * log(2 * PI_), s = 0;
  for (long i = 0; i < n; i++) { double lx = log(x[i]); double z = (lx - mu) * inv; s += -0.5 * z * z - ls - c - lx; }
  return v + s;
}
#define M10(v, a) v=v*a;v=v*a;v=v*a;v=v*a;v=v*a;v=v*a;v=v*a;v=v*a;v=v*a;v=v*a;
#define M100(v, a) M10(v,a) M10(v,a) M10(v,a) M10(v,a) M10(v,a) M10(v,a) M10(v,a) M10(v,a) M10(v,a) M10(v,a)
SI double P_lsb(const double *R x) { double v = x[0], a = x[1]; M100(v, a) M100(v, a) M100(v, a) M100(v, a) return v; }
SI double P_lsb_loop(const double *R x, long n) { double v = x[0], a = x[1]; for (long i = 0; i < n; i++) v = v * a; return v; }

// ---- loop-heavy user kernels
// N-body potential: E = -sum_{i<j} m_i m_j / sqrt(|r_i-r_j|^2 + eps2), r (n,3)
SI double P_nbody(const double *R r, const double *R m, long n, double eps2) {
  double E = 0;
  for (long i = 0; i < n; i++) { double xi = r[3*i], yi = r[3*i+1], zi = r[3*i+2], mi = m[i];
    for (long j = i + 1; j < n; j++) { double dx = xi - r[3*j], dy = yi - r[3*j+1], dz = zi - r[3*j+2];
      E -= mi * m[j] / sqrt(dx*dx + dy*dy + dz*dz + eps2); } }
  return E;
}
SI double P_rosen(const double *R x, long n) {
  double s = 0; for (long i = 0; i + 1 < n; i++) { double t = x[i+1] - x[i]*x[i], u = 1 - x[i]; s += 100*t*t + u*u; } return s;
}
// Lotka-Volterra RK4, n steps, loss = mean_t ((x-X)^2+(y-Y)^2)
#define LV_F(dx, dy, x, y) double dx = al*(x) - be*(x)*(y), dy = de*(x)*(y) - ga*(y);
SI double P_ode(const double *R p, const double *R data, long n, double h) {
  double al = p[0], be = p[1], de = p[2], ga = p[3], x = 1.0, y = 1.0, s = 0;
  for (long t = 0; t < n; t++) {
    LV_F(k1x, k1y, x, y)
    LV_F(k2x, k2y, x + 0.5*h*k1x, y + 0.5*h*k1y)
    LV_F(k3x, k3y, x + 0.5*h*k2x, y + 0.5*h*k2y)
    LV_F(k4x, k4y, x + h*k3x, y + h*k3y)
    x = x + (h/6)*(k1x + 2*k2x + 2*k3x + k4x); y = y + (h/6)*(k1y + 2*k2y + 2*k3y + k4y);
    double ex = x - data[2*t], ey = y - data[2*t+1]; s += ex*ex + ey*ey;
  }
  return s / n;
}
// ADBench GMM objective (src/cpp/shared/gmm.h maths). C0 = all constants (CONSTANT - k*C)
#define DMAX 16
#define KMAX 32
SI double P_gmm(const double *R alphas, const double *R means, const double *R icf, const double *R x, long d, long k, long n, double gamma, double wm, double C0, double *R Qd, double *R sq, double *R ws) {
  long isz = d * (d + 1) / 2; double *R xc=ws, *R q=ws+DMAX, *R mt=ws+2*DMAX;
  for (long a = 0; a < k; a++) { double t = 0; for (long i = 0; i < d; i++) { double v = icf[a*isz + i]; t += v; Qd[a*d + i] = exp(v); } sq[a] = t; }
  double slse = 0;
  for (long ix = 0; ix < n; ix++) {
    for (long a = 0; a < k; a++) {
      for (long i = 0; i < d; i++) { xc[i] = x[ix*d + i] - means[a*d + i]; q[i] = Qd[a*d + i] * xc[i]; }
      const double *R L = icf + a*isz + d; long p = 0;
      for (long i = 0; i < d; i++) for (long j = i + 1; j < d; j++) q[j] += L[p++] * xc[i];
      double ss = 0; for (long i = 0; i < d; i++) ss += q[i]*q[i];
      mt[a] = alphas[a] + sq[a] - 0.5*ss;
    }
    double mx = mt[0]; for (long a = 1; a < k; a++) mx = mt[a] > mx ? mt[a] : mx;
    double se = 0; for (long a = 0; a < k; a++) se += exp(mt[a] - mx);
    slse += log(se) + mx;
  }
  double mx = alphas[0]; for (long a = 1; a < k; a++) mx = alphas[a] > mx ? alphas[a] : mx;
  double se = 0; for (long a = 0; a < k; a++) se += exp(alphas[a] - mx);
  double lse = log(se) + mx, prior = 0;
  for (long a = 0; a < k; a++) { double f = 0; for (long i = 0; i < d; i++) f += Qd[a*d+i]*Qd[a*d+i]; for (long i = d; i < isz; i++) f += icf[a*isz+i]*icf[a*isz+i];
    prior += 0.5*gamma*gamma*f - wm*sq[a]; }
  return C0 + slse - n*lse + prior;
}
// the same value without overwritten work arrays: q_j formed as a dot product
SI double P_gmm2(const double *R alphas, const double *R means, const double *R icf, const double *R x, long d, long k, long n, double gamma, double wm, double C0, double *R Qd, double *R sq, double *R mt) {
  long isz = d * (d + 1) / 2;
  for (long a = 0; a < k; a++) { double t = 0; for (long i = 0; i < d; i++) { double v = icf[a*isz + i]; t += v; Qd[a*d + i] = exp(v); } sq[a] = t; }
  double slse = 0;
  for (long ix = 0; ix < n; ix++) {
    for (long a = 0; a < k; a++) { const double *xr = x + ix*d, *m = means + a*d, *L = icf + a*isz + d, *Q = Qd + a*d; double ss = 0;
      for (long j = 0; j < d; j++) { double q = Q[j]*(xr[j] - m[j]); for (long i = 0; i < j; i++) q += L[i*d - i*(i+1)/2 + j - i - 1]*(xr[i] - m[i]); ss += q*q; }
      mt[ix*k + a] = alphas[a] + sq[a] - 0.5*ss; }
    double mx = mt[ix*k]; for (long a = 1; a < k; a++) mx = mt[ix*k + a] > mx ? mt[ix*k + a] : mx;
    double se = 0; for (long a = 0; a < k; a++) se += exp(mt[ix*k + a] - mx);
    slse += log(se) + mx;
  }
  double mx = alphas[0]; for (long a = 1; a < k; a++) mx = alphas[a] > mx ? alphas[a] : mx;
  double se = 0; for (long a = 0; a < k; a++) se += exp(alphas[a] - mx);
  double lse = log(se) + mx, prior = 0;
  for (long a = 0; a < k; a++) { double f = 0; for (long i = 0; i < d; i++) f += Qd[a*d+i]*Qd[a*d+i]; for (long i = d; i < isz; i++) f += icf[a*isz+i]*icf[a*isz+i];
    prior += 0.5*gamma*gamma*f - wm*sq[a]; }
  return C0 + slse - n*lse + prior;
}
