#include "model/path_piece.hpp"

namespace tenon {

std::vector<Mat34> path_piece(const std::vector<Mat34>& poses, const std::vector<std::vector<Vec3>>& x) {
    std::vector<Mat34> piece = poses;
    int column = 4;
    for (const std::vector<Vec3>& vertices : x)
        for (const Vec3& vertex : vertices) {
            if (column == 4) {
                piece.push_back(Mat34::Zero());
                column = 0;
            }
            piece.back().col(column++) = vertex;
        }
    return piece;
}

}  // namespace tenon
