// Dense kernels on 12-row panels: the inner loops of the block Cholesky factorisation.
//
// A panel holds 12 rows and K columns, column by column (leading dimension 12). A tile is a 12x12 panel.
#pragma once

namespace tenon::solve {

constexpr int kTile = 12;

struct TileKernels {
    // C -= A B^T, with C a tile and A, B panels of `depth` columns.
    void (*update)(double* c, const double* a, const double* b, int depth);
    // X L^T = C in place: C a tile, L the lower triangle of a factored tile.
    void (*solve)(double* c, const double* l);
    // Lower Cholesky factor of a tile in place (its upper triangle is left as it is). Returns -1, or the first column
    // whose pivot is not above `threshold`: then the tile is as it was.
    int (*factor)(double* a, double threshold);
    // y -= A x, and z -= A^T w, for a panel of `depth` columns: y, w have 12 entries, x, z `depth`.
    void (*multiply)(double* y, const double* a, const double* x, int depth);
    void (*multiply_transposed)(double* z, const double* a, const double* w, int depth);
    // L x = z and L^T x = z in place, L the lower triangle of a factored tile.
    void (*solve_lower)(double* z, const double* l);
    void (*solve_upper)(double* z, const double* l);
};

// The fastest kernels this processor runs.
const TileKernels& tile_kernels();

extern const TileKernels portable_tile_kernels;
extern const TileKernels avx2_tile_kernels;
// The same bits as AVX2's; for processors that have AVX-512.
void update_avx512(double* c, const double* a, const double* b, int depth);
void multiply_avx512(double* y, const double* a, const double* x, int depth);

}  // namespace tenon::solve
