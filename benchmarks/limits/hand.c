// Primals (`p_...`) and value-and-gradient kernels (`g_...`) written by hand, all with one signature:
//     double f(double **arrays, const long *sizes, const double *scalars)
// Several formulations of most: the fastest is the limit. The comment above each group says which arrays it takes.
// BLAS and LAPACK are those of the OpenBLAS that NumPy brings (64-bit integers, prefix `scipy_`).
#include "prims.h"
#include <time.h>
typedef double (*KF)(double **a, const long *n, const double *s);
#define K(name) __attribute__((noinline)) double name(double **a, const long *n, const double *s)
extern void scipy_cblas_dgemm64_(int, int, int, int64_t, int64_t, int64_t, double, const double *, int64_t, const double *, int64_t, double, double *, int64_t);
void cblas_dgemm64_(int order, int ta, int tb, int64_t m, int64_t n, int64_t k, double alpha, const double *A, int64_t lda, const double *B, int64_t ldb, double beta, double *C, int64_t ldc) {
  scipy_cblas_dgemm64_(order, ta, tb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc); }
extern void scipy_dpotrf_64_(const char *, const int64_t *, double *, const int64_t *, int64_t *, long);
extern void scipy_dpotri_64_(const char *, const int64_t *, double *, const int64_t *, int64_t *, long);
extern void scipy_dpotrs_64_(const char *, const int64_t *, const int64_t *, const double *, const int64_t *, double *, const int64_t *, int64_t *, long);
extern void scipy_openblas_set_num_threads64_(int);
extern char *scipy_openblas_get_corename64_(void);
void blas_threads(int t) { scipy_openblas_set_num_threads64_(t); }
const char *blas_core(void) { return scipy_openblas_get_corename64_(); }

K(p_trivial) { return s[0]; }
// ------------------------------------------------------------------ sums
K(p_sum) { return P_sum(a[0], n[0]); }
K(g_sum) { const double *R x = a[0]; double *R g = a[1]; double v = 0; for (long i = 0; i < n[0]; i++) { v += x[i]; g[i] = 1.0; } return v; }
K(p_sumsin) { return P_sumsin(a[0], n[0]); }
K(g_sumsin) { const double *R x = a[0]; double *R g = a[1]; long N = n[0]; double v = 0;   // one loop
  for (long i = 0; i < N; i++) { v += sin(x[i]); g[i] = cos(x[i]); } return v; }
K(g_sumsin_2l) { const double *R x = a[0]; double *R g = a[1]; long N = n[0]; double v = 0; // two loops (lets gcc vectorise both)
  for (long i = 0; i < N; i++) v += sin(x[i]);
  for (long i = 0; i < N; i++) g[i] = cos(x[i]);
  return v; }
// ------------------------------------------------------------------ kron: n = a,b,ldx,c,d,tri, xtotal(len of full x)
K(p_kron_mat) { return P_kron_mat(a[0], n[0], n[1], n[2], a[1], n[3], n[4], n[5], a[4]); }
K(p_kron_fused) { return P_kron_fused(a[0], n[0], n[1], n[2], a[1], n[3], n[4], n[5]); }
K(g_kron_mat) { // value, then dK = ones materialised, contracted against x and y
  double v = P_kron_mat(a[0], n[0], n[1], n[2], a[1], n[3], n[4], n[5], a[4]);
  long A = n[0], B = n[1], ld = n[2], C = n[3], D = n[4], tri = n[5]; const double *R x = a[0], *R y = a[1]; double *R gx = a[2], *R gy = a[3], *R dK = a[5];
  long N = A*B*C*D; for (long i = 0; i < N; i++) dK[i] = 1.0;
  for (long i = 0; i < n[6]; i++) gx[i] = 0; for (long i = 0; i < C*D; i++) gy[i] = 0;
  for (long i = 0; i < A; i++) for (long k = 0; k < C; k++) { const double *R row = dK + (i*C + k)*(B*D); const double *R yr = y + k*D; double *R gyr = gy + k*D;
    for (long j = 0; j < B; j++) { double xv = x[i*ld + j], acc = 0; for (long l = tri ? k : 0; l < D; l++) { double w = row[j*D + l]; acc += w*yr[l]; gyr[l] += w*xv; } gx[i*ld + j] += acc; } }
  return v; }
K(g_kron_fused) { long A = n[0], B = n[1], ld = n[2], C = n[3], D = n[4], tri = n[5]; const double *R x = a[0], *R y = a[1]; double *R gx = a[2], *R gy = a[3];
  for (long i = 0; i < n[6]; i++) gx[i] = 0; for (long i = 0; i < C*D; i++) gy[i] = 0;
  double v = 0;
  for (long i = 0; i < A; i++) for (long j = 0; j < B; j++) { double xv = x[i*ld + j], sy = 0;
    for (long k = 0; k < C; k++) for (long l = tri ? k : 0; l < D; l++) { sy += y[k*D + l]; gy[k*D + l] += xv; }
    gx[i*ld + j] = sy; v += xv*sy; }
  return v; }
K(p_kron_alg) { double sx = 0, sy = 0; for (long i = 0; i < n[0]; i++) for (long j = 0; j < n[1]; j++) sx += a[0][i*n[2]+j];
  for (long k = 0; k < n[3]; k++) for (long l = n[5] ? k : 0; l < n[4]; l++) sy += a[1][k*n[4]+l]; return sx*sy; }
K(g_kron_alg) { const double *R x = a[0], *R y = a[1]; double *R gx = a[2], *R gy = a[3]; double sx = 0, sy = 0; for (long i = 0; i < n[0]; i++) for (long j = 0; j < n[1]; j++) sx += x[i*n[2]+j];
  for (long k = 0; k < n[3]; k++) for (long l = n[5] ? k : 0; l < n[4]; l++) sy += y[k*n[4]+l];
  for (long i = 0; i < n[6]; i++) gx[i] = 0; for (long i = 0; i < n[0]; i++) for (long j = 0; j < n[1]; j++) gx[i*n[2]+j] = sy;
  for (long i = 0; i < n[3]*n[4]; i++) gy[i] = 0; for (long k = 0; k < n[3]; k++) for (long l = n[5] ? k : 0; l < n[4]; l++) gy[k*n[4]+l] = sx;
  return sx*sy; }
// ------------------------------------------------------------------ maps
K(p_map_naive) { return P_map_naive(a[0], a[2], n[0]); }
K(p_map) { return P_map_fused(a[0], n[0]); }
K(g_map_1l) { const double *R x = a[0]; double *R g = a[1]; double v = 0; for (long i = 0; i < n[0]; i++) { double e = exp(x[i]), c = cos(e); v += sin(c); g[i] = -cos(c)*sin(e)*e; } return v; }
K(g_map_2l) { const double *R x = a[0]; double *R g = a[1]; long N = n[0]; double v = 0;
  double e[256], c[256], se[256];
  for (long o = 0; o < N; o += 256) { long m = N - o < 256 ? N - o : 256;
    for (long i = 0; i < m; i++) e[i] = exp(x[o+i]);
    for (long i = 0; i < m; i++) c[i] = cos(e[i]);
    for (long i = 0; i < m; i++) se[i] = sin(e[i])*e[i];
    for (long i = 0; i < m; i++) v += sin(c[i]);
    for (long i = 0; i < m; i++) g[o+i] = -cos(c[i])*se[i]; }
  return v; }
// ------------------------------------------------------------------ mlp: a = W2 W1 Y X gW2 gW1 gY gX A H E dP dH ; n = o h p q
K(p_mlp) { return P_mlp(a[0], a[1], a[2], a[3], n[0], n[1], n[2], n[3], a[8], a[9], a[10]); }
K(p_mlp_loop) { return P_mlp_loop(a[0], a[1], a[2], a[3], n[0], n[1], n[2], n[3], a[8], a[9], a[10]); }
K(g_mlp) { long o = n[0], h = n[1], p = n[2], q = n[3]; const double *W2 = a[0], *W1 = a[1], *Y = a[2], *X = a[3]; double *A = a[8], *H = a[9], *E = a[10], *dP = a[11], *dH = a[12], *gY = a[6];
  cblas_dgemm64_(ROW, NT, NT, h, q, p, 1.0, W1, p, X, q, 0.0, A, q);
  for (long i = 0; i < h*q; i++) H[i] = A[i] >= 0 ? A[i] : 0.0;
  cblas_dgemm64_(ROW, NT, NT, o, q, h, 1.0, W2, h, H, q, 0.0, E, q);
  double v = 0; for (long i = 0; i < o*q; i++) { double e = Y[i] - E[i]; v += e*e; gY[i] = 2*e; dP[i] = -2*e; }
  cblas_dgemm64_(ROW, NT, TR, o, h, q, 1.0, dP, q, H, q, 0.0, a[4], h);
  cblas_dgemm64_(ROW, TR, NT, h, q, o, 1.0, W2, h, dP, q, 0.0, dH, q);
  for (long i = 0; i < h*q; i++) dH[i] = A[i] >= 0 ? dH[i] : 0.0;
  cblas_dgemm64_(ROW, NT, TR, h, p, q, 1.0, dH, q, X, q, 0.0, a[5], p);
  cblas_dgemm64_(ROW, TR, NT, p, q, h, 1.0, W1, p, dH, q, 0.0, a[7], q);
  return v; }
// ------------------------------------------------------------------ gp: a = x y gx gy gs(1) Km L z ; n = N ; s = noise
K(p_gp) { int64_t N = n[0], one = 1, info; const double *R x = a[0]; double *R L = a[6], *R z = a[7];
  for (long j = 0; j < N; j++) for (long i = j; i < N; i++) { double d = x[i] - x[j]; L[i + j*N] = exp(-0.5*d*d); }
  for (long i = 0; i < N; i++) { L[i + i*N] += s[0]; z[i] = a[1][i]; }
  scipy_dpotrf_64_("L", &N, L, &N, &info, 1);
  double ld = 0; for (long i = 0; i < N; i++) ld += 2*log(L[i + i*N]);
  scipy_dpotrs_64_("L", &N, &one, L, &N, z, &N, &info, 1);
  double q = 0; for (long i = 0; i < N; i++) q += z[i]*a[1][i];
  return -0.5*(N*log(2*PI_) + ld + q); }
K(p_gp_full) { // all n^2 kernel entries, as NumPy code writes it
  int64_t N = n[0], one = 1, info; const double *R x = a[0]; double *R L = a[6], *R z = a[7];
  for (long j = 0; j < N; j++) for (long i = 0; i < N; i++) { double d = x[i] - x[j]; L[i + j*N] = exp(-0.5*d*d); }
  for (long i = 0; i < N; i++) { L[i + i*N] += s[0]; z[i] = a[1][i]; }
  scipy_dpotrf_64_("L", &N, L, &N, &info, 1);
  double ld = 0; for (long i = 0; i < N; i++) ld += 2*log(L[i + i*N]);
  scipy_dpotrs_64_("L", &N, &one, L, &N, z, &N, &info, 1);
  double q = 0; for (long i = 0; i < N; i++) q += z[i]*a[1][i];
  return -0.5*(N*log(2*PI_) + ld + q); }
K(g_gp) { int64_t N = n[0], one = 1, info; const double *R x = a[0]; double *R L = a[6], *R z = a[7], *R Km = a[5], *R gx = a[2];
  for (long j = 0; j < N; j++) for (long i = j; i < N; i++) { double d = x[i] - x[j]; double k = exp(-0.5*d*d); L[i + j*N] = k; Km[i + j*N] = k; }
  for (long i = 0; i < N; i++) { L[i + i*N] += s[0]; z[i] = a[1][i]; gx[i] = 0; }
  scipy_dpotrf_64_("L", &N, L, &N, &info, 1);
  double ld = 0; for (long i = 0; i < N; i++) ld += 2*log(L[i + i*N]);
  scipy_dpotrs_64_("L", &N, &one, L, &N, z, &N, &info, 1);
  double q = 0; for (long i = 0; i < N; i++) q += z[i]*a[1][i];
  scipy_dpotri_64_("L", &N, L, &N, &info, 1);
  double gs = 0;
  for (long j = 0; j < N; j++) { double zj = z[j], xj = x[j], acc = 0; gs += 0.5*(zj*zj - L[j + j*N]);
    for (long i = j + 1; i < N; i++) { double w = -(z[i]*zj - L[i + j*N]) * Km[i + j*N] * (x[i] - xj); gx[i] += w; acc -= w; }
    gx[j] += acc; a[3][j] = -zj; }
  a[4][0] = gs;
  return -0.5*(N*log(2*PI_) + ld + q); }
K(p_gp_loop) { return P_gp_loop(a[0], a[1], s[0], n[0], a[6], a[7]); }
// BLAS-free gradient: loop Cholesky, register-blocked triangular inverse and X^T X (32-wide column panels); needs n % 32 == 0
K(g_gp_blk) { long N = n[0]; const double *R x = a[0]; double *R L = a[6], *R z = a[7], *R X = a[5], *R gx = a[2]; static __thread double V[128*128], Km[128*128];
  for (long i = 0; i < N; i++) for (long j = 0; j <= i; j++) { double d = x[i] - x[j]; double k = exp(-0.5*d*d); Km[i*N + j] = k; L[i*N + j] = k; }
  for (long i = 0; i < N; i++) L[i*N + i] += s[0];
  double ld = 0, q = 0;
  for (long j = 0; j < N; j++) { double d = L[j*N + j]; for (long k = 0; k < j; k++) d -= L[j*N + k]*L[j*N + k];
    d = sqrt(d); L[j*N + j] = d; ld += log(d); double inv = 1/d;
    for (long i = j + 1; i < N; i++) { double t = L[i*N + j]; for (long k = 0; k < j; k++) t -= L[i*N + k]*L[j*N + k]; L[i*N + j] = t*inv; } }
  for (long jb = 0; jb < N; jb += 32) for (long i = jb; i < N; i++) { double acc[32] = {0}; if (i < jb + 32) acc[i - jb] = 1;
      for (long k = jb; k < i; k++) { double l = L[i*N + k]; for (long b = 0; b < 32; b++) acc[b] -= l*X[k*N + jb + b]; }
      double inv = 1/L[i*N + i]; for (long b = 0; b < 32; b++) X[i*N + jb + b] = acc[b]*inv; }
  for (long c = 0; c < N; c++) { double t = 0; for (long k = 0; k <= c; k++) t += X[c*N + k]*a[1][k]; z[c] = t; q += t*t; }
  double al[128]; for (long i = 0; i < N; i++) al[i] = 0; for (long c = 0; c < N; c++) { double zc = z[c]; for (long k = 0; k <= c; k++) al[k] += X[c*N + k]*zc; }
  double gs = 0; for (long i = 0; i < N; i++) gx[i] = 0;
  for (long jb = 0; jb < N; jb += 32) for (long i = jb; i < N; i++) { double acc[32] = {0};
      for (long k = i; k < N; k++) { double l = X[k*N + i]; for (long b = 0; b < 32; b++) acc[b] += l*X[k*N + jb + b]; }
      for (long b = 0; b < 32; b++) V[i*N + jb + b] = acc[b]; }
  for (long i = 0; i < N; i++) { double ai = al[i], xi = x[i], acc = 0; gs += 0.5*(ai*ai - V[i*N + i]); a[3][i] = -ai;
    for (long j = 0; j < i; j++) { double w = -(ai*al[j] - V[i*N + j])*Km[i*N + j]*(xi - x[j]); acc += w; gx[j] -= w; } gx[i] += acc; }
  a[4][0] = gs; return -0.5*(N*log(2*PI_) + 2*ld + q); }
// ------------------------------------------------------------------ turing: a = u x gu ; n = N
K(p_turing) { return P_turing(a[0], a[1], n[0]); }
K(g_turing) { const double *R u = a[0], *R x = a[1]; long N = n[0]; double mu, sg; double v = P_turing_prior(u[0], &mu) + P_turing_prior(u[1], &sg);
  double ls = log(sg), inv = 1/sg, c = 0.5*log(2*PI_), S = 0, dm = 0, ds = 0;
  for (long i = 0; i < N; i++) { double lx = log(x[i]), z = (lx - mu)*inv; S += -0.5*z*z - ls - c - lx; dm += z; ds += z*z - 1; }
  double th[2] = {mu, sg}, dth[2] = {dm*inv, ds*inv};
  for (int i = 0; i < 2; i++) { double q = 1/(1 + exp(-u[i])); a[2][i] = (dth[i] - (th[i] - 1)/4)*9.9*q*(1 - q) + (1 - 2*q); }
  return v + S; }
// ------------------------------------------------------------------ large_single_block: a = x g ws
K(p_lsb) { return P_lsb(a[0]); }
K(p_lsb_loop) { return P_lsb_loop(a[0], n[0]); }
#define F1(i) w[i+1]=w[i]*y;
#define F10(i) F1(i) F1(i+1) F1(i+2) F1(i+3) F1(i+4) F1(i+5) F1(i+6) F1(i+7) F1(i+8) F1(i+9)
#define F100(i) F10(i) F10(i+10) F10(i+20) F10(i+30) F10(i+40) F10(i+50) F10(i+60) F10(i+70) F10(i+80) F10(i+90)
#define B1(i) da+=b*w[i];b=b*y;
#define B10(i) B1(i+9) B1(i+8) B1(i+7) B1(i+6) B1(i+5) B1(i+4) B1(i+3) B1(i+2) B1(i+1) B1(i)
#define B100(i) B10(i+90) B10(i+80) B10(i+70) B10(i+60) B10(i+50) B10(i+40) B10(i+30) B10(i+20) B10(i+10) B10(i)
K(g_lsb) { double w[401]; double y = a[0][1]; w[0] = a[0][0]; F100(0) F100(100) F100(200) F100(300) double b = 1, da = 0; B100(300) B100(200) B100(100) B100(0) a[1][0] = b; a[1][1] = da; return w[400]; }
// reverse sweep without storing w: w_i = w_400 replaced by a second forward power chain (da = sum b_i*w_i); dual-number (forward) version:
#define D1 d=d*y+v;v=v*y;p=p*y;
#define D10 D1 D1 D1 D1 D1 D1 D1 D1 D1 D1
#define D100 D10 D10 D10 D10 D10 D10 D10 D10 D10 D10
K(g_lsb_fwd) { double v = a[0][0], y = a[0][1], d = 0, p = 1; D100 D100 D100 D100 a[1][0] = p; a[1][1] = d; return v; }
// ------------------------------------------------------------------ nbody: a = r m gr ; n = N ; s = eps2
K(p_nbody) { return P_nbody(a[0], a[1], n[0], s[0]); }
#define NB 256
K(p_nbody_soa) { long N = n[0]; double X[NB], Y[NB], Z[NB]; const double *R r = a[0], *R m = a[1]; for (long i = 0; i < N; i++) { X[i] = r[3*i]; Y[i] = r[3*i+1]; Z[i] = r[3*i+2]; }
  double E = 0; for (long i = 0; i < N; i++) { double xi = X[i], yi = Y[i], zi = Z[i], e = 0; for (long j = i + 1; j < N; j++) { double dx = xi - X[j], dy = yi - Y[j], dz = zi - Z[j]; e += m[j]/sqrt(dx*dx + dy*dy + dz*dz + s[0]); } E -= m[i]*e; } return E; }
K(g_nbody) { long N = n[0]; const double *R r = a[0], *R m = a[1]; double *R g = a[2]; double E = 0; for (long i = 0; i < 3*N; i++) g[i] = 0;   // AoS, half
  for (long i = 0; i < N; i++) { double xi = r[3*i], yi = r[3*i+1], zi = r[3*i+2], mi = m[i], gx = 0, gy = 0, gz = 0;
    for (long j = i + 1; j < N; j++) { double dx = xi - r[3*j], dy = yi - r[3*j+1], dz = zi - r[3*j+2]; double d2 = dx*dx + dy*dy + dz*dz + s[0], ir = 1/sqrt(d2), e = mi*m[j]*ir, w = e/d2; E -= e;
      gx += w*dx; gy += w*dy; gz += w*dz; g[3*j] -= w*dx; g[3*j+1] -= w*dy; g[3*j+2] -= w*dz; }
    g[3*i] += gx; g[3*i+1] += gy; g[3*i+2] += gz; } return E; }
K(g_nbody_soa) { long N = n[0]; double X[NB], Y[NB], Z[NB], GX[NB], GY[NB], GZ[NB]; const double *R r = a[0], *R m = a[1]; for (long i = 0; i < N; i++) { X[i] = r[3*i]; Y[i] = r[3*i+1]; Z[i] = r[3*i+2]; GX[i] = GY[i] = GZ[i] = 0; }
  double E = 0; for (long i = 0; i < N; i++) { double xi = X[i], yi = Y[i], zi = Z[i], mi = m[i], e = 0, gx = 0, gy = 0, gz = 0;
    for (long j = i + 1; j < N; j++) { double dx = xi - X[j], dy = yi - Y[j], dz = zi - Z[j]; double d2 = dx*dx + dy*dy + dz*dz + s[0], ir = 1/sqrt(d2), t = m[j]*ir, w = mi*t*(ir*ir); e += t;
      double ax = w*dx, ay = w*dy, az = w*dz; gx += ax; gy += ay; gz += az; GX[j] -= ax; GY[j] -= ay; GZ[j] -= az; }
    E -= mi*e; GX[i] += gx; GY[i] += gy; GZ[i] += gz; }
  double *R g = a[2]; for (long i = 0; i < N; i++) { g[3*i] = GX[i]; g[3*i+1] = GY[i]; g[3*i+2] = GZ[i]; } return E; }
K(g_nbody_full) { long N = n[0]; double X[NB], Y[NB], Z[NB]; const double *R r = a[0], *R m = a[1]; for (long i = 0; i < N; i++) { X[i] = r[3*i]; Y[i] = r[3*i+1]; Z[i] = r[3*i+2]; }
  double E = 0, *R g = a[2]; for (long i = 0; i < N; i++) { double xi = X[i], yi = Y[i], zi = Z[i], mi = m[i], e = 0, gx = 0, gy = 0, gz = 0;
    for (long j = 0; j < N; j++) { double dx = xi - X[j], dy = yi - Y[j], dz = zi - Z[j]; double d2 = dx*dx + dy*dy + dz*dz + s[0], ir = 1/sqrt(d2), t = m[j]*ir, w = t*(ir*ir); e += t; gx += w*dx; gy += w*dy; gz += w*dz; }
    E -= mi*(e - mi/sqrt(s[0])); g[3*i] = mi*gx; g[3*i+1] = mi*gy; g[3*i+2] = mi*gz; }
  return 0.5*E; }
// ------------------------------------------------------------------ rosenbrock: a = x g ; n = N
K(p_rosen) { return P_rosen(a[0], n[0]); }
K(g_rosen) { long N = n[0]; const double *R x = a[0]; double *R g = a[1]; double v = 0, carry = 0;
  for (long i = 0; i + 1 < N; i++) { double xi = x[i], t = x[i+1] - xi*xi, u = 1 - xi; v += 100*t*t + u*u; g[i] = carry - 400*t*xi - 2*u; carry = 200*t; }
  g[N-1] = carry; return v; }
K(g_rosen_v) { long N = n[0]; const double *R x = a[0]; double *R g = a[1]; double v = 0; // no loop-carried value: vectorises
  { double t = x[1] - x[0]*x[0], u = 1 - x[0]; v = 100*t*t + u*u; g[0] = -400*t*x[0] - 2*u; }
  for (long i = 1; i + 1 < N; i++) { double xm = x[i-1], xi = x[i], t0 = xi - xm*xm, t = x[i+1] - xi*xi, u = 1 - xi; v += 100*t*t + u*u; g[i] = 200*t0 - 400*t*xi - 2*u; }
  g[N-1] = 200*(x[N-1] - x[N-2]*x[N-2]); return v; }
// ------------------------------------------------------------------ ode: a = p data g ws(2*(n+1)) ; n = steps ; s = h
K(p_ode) { return P_ode(a[0], a[1], n[0], s[0]); }
#define LV_B(bx, by, x, y, ox, oy) /* adjoint of LV_F: (ox,oy) = cotangent of (dx,dy); adds into bx,by and param grads */ \
  { double X_ = (x), Y_ = (y); ga_ -= (oy)*Y_; al_ += (ox)*X_; be_ -= (ox)*X_*Y_; de_ += (oy)*X_*Y_; bx += (ox)*(al - be*Y_) + (oy)*de*Y_; by += -(ox)*be*X_ + (oy)*(de*X_ - ga); }
K(g_ode) { double al = a[0][0], be = a[0][1], de = a[0][2], ga = a[0][3], h = s[0], x = 1, y = 1, S = 0; long N = n[0]; const double *R data = a[1]; double *R w = a[3];
  for (long t = 0; t < N; t++) { w[2*t] = x; w[2*t+1] = y;
    LV_F(k1x, k1y, x, y) LV_F(k2x, k2y, x + 0.5*h*k1x, y + 0.5*h*k1y) LV_F(k3x, k3y, x + 0.5*h*k2x, y + 0.5*h*k2y) LV_F(k4x, k4y, x + h*k3x, y + h*k3y)
    x = x + (h/6)*(k1x + 2*k2x + 2*k3x + k4x); y = y + (h/6)*(k1y + 2*k2y + 2*k3y + k4y);
    double ex = x - data[2*t], ey = y - data[2*t+1]; S += ex*ex + ey*ey; }
  w[2*N] = x; w[2*N+1] = y;
  double bx = 0, by = 0, al_ = 0, be_ = 0, de_ = 0, ga_ = 0, c = 2.0/N;
  for (long t = N - 1; t >= 0; t--) {
    bx += c*(w[2*t+2] - data[2*t]); by += c*(w[2*t+3] - data[2*t+1]);
    double x0 = w[2*t], y0 = w[2*t+1];
    LV_F(k1x, k1y, x0, y0) double x1 = x0 + 0.5*h*k1x, y1 = y0 + 0.5*h*k1y; LV_F(k2x, k2y, x1, y1) double x2 = x0 + 0.5*h*k2x, y2 = y0 + 0.5*h*k2y; LV_F(k3x, k3y, x2, y2) double x3 = x0 + h*k3x, y3 = y0 + h*k3y;
    double b4x = (h/6)*bx, b4y = (h/6)*by, b3x = 2*b4x, b3y = 2*b4y, b2x = b3x, b2y = b3y, b1x = b4x, b1y = b4y, nx = bx, ny = by;
    double tx = 0, ty = 0; LV_B(tx, ty, x3, y3, b4x, b4y) nx += tx; ny += ty; b3x += h*tx; b3y += h*ty;
    tx = ty = 0; LV_B(tx, ty, x2, y2, b3x, b3y) nx += tx; ny += ty; b2x += 0.5*h*tx; b2y += 0.5*h*ty;
    tx = ty = 0; LV_B(tx, ty, x1, y1, b2x, b2y) nx += tx; ny += ty; b1x += 0.5*h*tx; b1y += 0.5*h*ty;
    LV_B(nx, ny, x0, y0, b1x, b1y) bx = nx; by = ny; }
  a[2][0] = al_; a[2][1] = be_; a[2][2] = de_; a[2][3] = ga_; return S/N; }
typedef double v4 __attribute__((vector_size(32)));
K(g_ode_fwd4) { // forward mode, 4 tangents in one SIMD register
  double al = a[0][0], be = a[0][1], de = a[0][2], ga = a[0][3], h = s[0], x = 1, y = 1, S = 0; long N = n[0]; const double *R data = a[1]; v4 tx = {0,0,0,0}, ty = {0,0,0,0}, gg = {0,0,0,0};
  const v4 e0 = {1,0,0,0}, e1 = {0,1,0,0}, e2 = {0,0,1,0}, e3 = {0,0,0,1};
#define FD(kx, ky, dx, dy, X, Y, TX, TY) double kx, ky; v4 dx, dy; { double xx = (X), yy = (Y), xy = xx*yy; v4 ux = (TX), uy = (TY), uxy = ux*yy + uy*xx; kx = al*xx - be*xy; ky = de*xy - ga*yy; dx = e0*xx + ux*al - e1*xy - uxy*be; dy = e2*xy + uxy*de - e3*yy - uy*ga; }
  for (long t = 0; t < N; t++) {
    FD(k1x, k1y, d1x, d1y, x, y, tx, ty) FD(k2x, k2y, d2x, d2y, x + 0.5*h*k1x, y + 0.5*h*k1y, tx + 0.5*h*d1x, ty + 0.5*h*d1y)
    FD(k3x, k3y, d3x, d3y, x + 0.5*h*k2x, y + 0.5*h*k2y, tx + 0.5*h*d2x, ty + 0.5*h*d2y) FD(k4x, k4y, d4x, d4y, x + h*k3x, y + h*k3y, tx + h*d3x, ty + h*d3y)
    x = x + (h/6)*(k1x + 2*k2x + 2*k3x + k4x); y = y + (h/6)*(k1y + 2*k2y + 2*k3y + k4y);
    tx = tx + (h/6)*(d1x + 2*d2x + 2*d3x + d4x); ty = ty + (h/6)*(d1y + 2*d2y + 2*d3y + d4y);
    double ex = x - data[2*t], ey = y - data[2*t+1]; S += ex*ex + ey*ey; gg += 2*ex*tx + 2*ey*ty; }
  for (int i = 0; i < 4; i++) a[2][i] = gg[i]/N; return S/N; }
// ------------------------------------------------------------------ gmm: a = alphas means icf x ga gm gi Qd sq dQd dsq ws ; n = d k N ; s = gamma wm C0
K(p_gmm) { double ws[2*DMAX+KMAX]; return P_gmm(a[0], a[1], a[2], a[3], n[0], n[1], n[2], s[0], s[1], s[2], a[7], a[8], ws); }
static __thread double mtbuf[32*4096];
K(p_gmm2) { return P_gmm2(a[0], a[1], a[2], a[3], n[0], n[1], n[2], s[0], s[1], s[2], a[7], a[8], mtbuf); }
// same, dimensions known at compile time
K(p_gmm2c) { return P_gmm2(a[0], a[1], a[2], a[3], 10, 25, n[2], s[0], s[1], s[2], a[7], a[8], mtbuf); }
K(g_gmm) { // straightforward manual adjoint (ADBench "manual" style)
  long d = n[0], k = n[1], N = n[2], isz = d*(d+1)/2; double gamma = s[0], wm = s[1]; const double *R al = a[0], *R mu = a[1], *R icf = a[2], *R x = a[3]; double *R gal = a[4], *R gmu = a[5], *R gi = a[6], *R Qd = a[7], *R sq = a[8], *R dQ = a[9], *R dsq = a[10];
  double xc[KMAX*DMAX], q[KMAX*DMAX], mt[KMAX], dq[DMAX], dxc[DMAX];
  for (long i = 0; i < k; i++) { double t = 0; for (long j = 0; j < d; j++) { double v = icf[i*isz+j]; t += v; Qd[i*d+j] = exp(v); } sq[i] = t; gal[i] = 0; dsq[i] = 0; }
  for (long i = 0; i < k*d; i++) { gmu[i] = 0; dQ[i] = 0; } for (long i = 0; i < k*isz; i++) gi[i] = 0;
  double slse = 0;
  for (long ix = 0; ix < N; ix++) {
    for (long c = 0; c < k; c++) { double *R xcc = xc + c*d, *R qc = q + c*d;
      for (long i = 0; i < d; i++) { xcc[i] = x[ix*d+i] - mu[c*d+i]; qc[i] = Qd[c*d+i]*xcc[i]; }
      const double *R L = icf + c*isz + d; long p = 0; for (long i = 0; i < d; i++) for (long j = i + 1; j < d; j++) qc[j] += L[p++]*xcc[i];
      double ss = 0; for (long i = 0; i < d; i++) ss += qc[i]*qc[i]; mt[c] = al[c] + sq[c] - 0.5*ss; }
    double mx = mt[0]; for (long c = 1; c < k; c++) mx = mt[c] > mx ? mt[c] : mx; double se = 0; for (long c = 0; c < k; c++) { mt[c] = exp(mt[c] - mx); se += mt[c]; }
    slse += log(se) + mx; double is = 1/se;
    for (long c = 0; c < k; c++) { double w = mt[c]*is; double *R xcc = xc + c*d, *R qc = q + c*d; gal[c] += w; dsq[c] += w;
      for (long i = 0; i < d; i++) { dq[i] = -w*qc[i]; dQ[c*d+i] += dq[i]*xcc[i]; dxc[i] = dq[i]*Qd[c*d+i]; }
      const double *R L = icf + c*isz + d; double *R gL = gi + c*isz + d; long p = 0;
      for (long i = 0; i < d; i++) { double t = 0, xi = xcc[i]; for (long j = i + 1; j < d; j++, p++) { gL[p] += dq[j]*xi; t += L[p]*dq[j]; } dxc[i] += t; }
      for (long i = 0; i < d; i++) gmu[c*d+i] -= dxc[i]; } }
  double mx = al[0]; for (long c = 1; c < k; c++) mx = al[c] > mx ? al[c] : mx; double se = 0; for (long c = 0; c < k; c++) se += exp(al[c] - mx); double lse = log(se) + mx, prior = 0;
  for (long c = 0; c < k; c++) { gal[c] -= N*exp(al[c] - lse); double f = 0; for (long i = 0; i < d; i++) { double Q = Qd[c*d+i]; f += Q*Q; gi[c*isz+i] = dsq[c] - wm + (dQ[c*d+i] + gamma*gamma*Q)*Q; }
    for (long i = d; i < isz; i++) { double v = icf[c*isz+i]; f += v*v; gi[c*isz+i] += gamma*gamma*v; } prior += 0.5*gamma*gamma*f - wm*sq[c]; }
  return s[2] + slse - N*lse + prior; }
// SIMD over points: block of PB points, D compile-time
#define PB 32
#define D 10
typedef double blk[PB];
K(p_gmm_blk) { long k = n[1], N = n[2], isz = D*(D+1)/2; double gamma = s[0], wm = s[1]; const double *R al = a[0], *R mu = a[1], *R icf = a[2], *R x = a[3]; double *R Qd = a[7], *R sq = a[8];
  if (n[0] != D) return -1e300;
  for (long i = 0; i < k; i++) { double t = 0; for (long j = 0; j < D; j++) { double v = icf[i*isz+j]; t += v; Qd[i*D+j] = exp(v); } sq[i] = t; }
  double slse = 0; blk xT[D], xc[D], q[D], mt[KMAX], mx, se;
  for (long o = 0; o < N; o += PB) { long nb = N - o < PB ? N - o : PB;
    for (long i = 0; i < D; i++) for (long b = 0; b < PB; b++) xT[i][b] = b < nb ? x[(o+b)*D+i] : 0.0;
    for (long b = 0; b < PB; b++) { mx[b] = -1e308; se[b] = 0; }
    for (long c = 0; c < k; c++) { const double *R L = icf + c*isz + D; long p = 0;
      for (long i = 0; i < D; i++) { double m = mu[c*D+i], Q = Qd[c*D+i]; for (long b = 0; b < PB; b++) { xc[i][b] = xT[i][b] - m; q[i][b] = Q*xc[i][b]; } }
      for (long i = 0; i < D; i++) for (long j = i + 1; j < D; j++) { double l = L[p++]; for (long b = 0; b < PB; b++) q[j][b] += l*xc[i][b]; }
      double base = al[c] + sq[c]; for (long b = 0; b < PB; b++) { double ss = 0; for (long i = 0; i < D; i++) ss += q[i][b]*q[i][b]; double m = base - 0.5*ss; mt[c][b] = m; mx[b] = m > mx[b] ? m : mx[b]; } }
    for (long c = 0; c < k; c++) for (long b = 0; b < PB; b++) se[b] += exp(mt[c][b] - mx[b]);
    for (long b = 0; b < PB; b++) { double v = log(se[b]) + mx[b]; slse += b < nb ? v : 0.0; } }
  double mxa = al[0]; for (long c = 1; c < k; c++) mxa = al[c] > mxa ? al[c] : mxa; double sea = 0; for (long c = 0; c < k; c++) sea += exp(al[c] - mxa); double lse = log(sea) + mxa, prior = 0;
  for (long c = 0; c < k; c++) { double f = 0; for (long i = 0; i < D; i++) f += Qd[c*D+i]*Qd[c*D+i]; for (long i = D; i < isz; i++) f += icf[c*isz+i]*icf[c*isz+i]; prior += 0.5*gamma*gamma*f - wm*sq[c]; }
  return s[2] + slse - N*lse + prior; }
K(g_gmm_blk) { long k = n[1], N = n[2], isz = D*(D+1)/2; double gamma = s[0], wm = s[1]; const double *R al = a[0], *R mu = a[1], *R icf = a[2], *R x = a[3]; double *R gal = a[4], *R gmu = a[5], *R gi = a[6], *R Qd = a[7], *R sq = a[8], *R dQ = a[9], *R dsq = a[10];
  if (n[0] != D) return -1e300;
  for (long i = 0; i < k; i++) { double t = 0; for (long j = 0; j < D; j++) { double v = icf[i*isz+j]; t += v; Qd[i*D+j] = exp(v); } sq[i] = t; gal[i] = 0; dsq[i] = 0; }
  for (long i = 0; i < k*D; i++) { gmu[i] = 0; dQ[i] = 0; } for (long i = 0; i < k*isz; i++) gi[i] = 0;
  double slse = 0; blk xT[D], xc[D], dq[D], mt[KMAX], mx, se; static __thread blk q[KMAX][D];
  for (long o = 0; o < N; o += PB) { long nb = N - o < PB ? N - o : PB;
    for (long i = 0; i < D; i++) for (long b = 0; b < PB; b++) xT[i][b] = b < nb ? x[(o+b)*D+i] : 0.0;
    for (long b = 0; b < PB; b++) { mx[b] = -1e308; se[b] = 0; }
    for (long c = 0; c < k; c++) { const double *R L = icf + c*isz + D; long p = 0;
      for (long i = 0; i < D; i++) { double m = mu[c*D+i], Q = Qd[c*D+i]; for (long b = 0; b < PB; b++) { xc[i][b] = xT[i][b] - m; q[c][i][b] = Q*xc[i][b]; } }
      for (long i = 0; i < D; i++) for (long j = i + 1; j < D; j++) { double l = L[p++]; for (long b = 0; b < PB; b++) q[c][j][b] += l*xc[i][b]; }
      double base = al[c] + sq[c]; for (long b = 0; b < PB; b++) { double ss = 0; for (long i = 0; i < D; i++) ss += q[c][i][b]*q[c][i][b]; double m = base - 0.5*ss; mt[c][b] = m; mx[b] = m > mx[b] ? m : mx[b]; } }
    for (long c = 0; c < k; c++) for (long b = 0; b < PB; b++) { mt[c][b] = exp(mt[c][b] - mx[b]); se[b] += mt[c][b]; }
    for (long b = 0; b < PB; b++) { double v = log(se[b]) + mx[b]; slse += b < nb ? v : 0.0; se[b] = b < nb ? 1/se[b] : 0.0; }
    for (long c = 0; c < k; c++) { double sw = 0; blk w; for (long b = 0; b < PB; b++) { w[b] = mt[c][b]*se[b]; sw += w[b]; } gal[c] += sw; dsq[c] += sw;
      for (long i = 0; i < D; i++) { double m = mu[c*D+i], t = 0; for (long b = 0; b < PB; b++) { xc[i][b] = xT[i][b] - m; dq[i][b] = -w[b]*q[c][i][b]; t += dq[i][b]*xc[i][b]; } dQ[c*D+i] += t; }
      double *R gL = gi + c*isz + D; long p = 0;
      double sd[D]; for (long i = 0; i < D; i++) { double t = 0; for (long b = 0; b < PB; b++) t += dq[i][b]; sd[i] = t; }
      for (long i = 0; i < D; i++) for (long j = i + 1; j < D; j++) { double t = 0; for (long b = 0; b < PB; b++) t += dq[j][b]*xc[i][b]; gL[p++] += t; }
      const double *R L = icf + c*isz + D; p = 0; // sum_b dxc = Q^T sum_b dq
      for (long i = 0; i < D; i++) { double t = sd[i]*Qd[c*D+i]; for (long j = i + 1; j < D; j++) t += L[p++]*sd[j]; gmu[c*D+i] -= t; } } }
  double mxa = al[0]; for (long c = 1; c < k; c++) mxa = al[c] > mxa ? al[c] : mxa; double sea = 0; for (long c = 0; c < k; c++) sea += exp(al[c] - mxa); double lse = log(sea) + mxa, prior = 0;
  for (long c = 0; c < k; c++) { gal[c] -= N*exp(al[c] - lse); double f = 0; for (long i = 0; i < D; i++) { double Q = Qd[c*D+i]; f += Q*Q; gi[c*isz+i] = dsq[c] - wm + (dQ[c*D+i] + gamma*gamma*Q)*Q; }
    for (long i = D; i < isz; i++) { double v = icf[c*isz+i]; f += v*v; gi[c*isz+i] += gamma*gamma*v; } prior += 0.5*gamma*gamma*f - wm*sq[c]; }
  return s[2] + slse - N*lse + prior; }
