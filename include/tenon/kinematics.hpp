// The tree of a scene's bodies and joints in joint coordinates; link_tree.hpp has what can be done with it.
#pragma once

#include <string>
#include <vector>

#include "tenon/link_tree.hpp"
#include "tenon/types.hpp"

namespace tenon {
struct Scene;
}

namespace tenon::kinematics {

// The tree of a scene's bodies and joints. Loops are cut: joints that close one are listed, and left to the caller.
struct SceneTree {
    Tree tree;
    std::vector<int> link_of_body;   // -1: does not move
    std::vector<Pose> body_in_link;  // frame of the body's geometry in its link
    struct JointPlace {
        int first_link = -1, count = 0;  // links that the joint's coordinates move, in order
        bool reversed = false;           // the second body is the parent: coordinates count the other way
    };
    std::vector<JointPlace> joints;
    std::vector<int> cut_joints;  // close loops
    int link(const Scene& scene,
             const std::string& joint) const;  // of a joint's first coordinate; InputError
};
SceneTree tree_of(const Scene& scene);

}  // namespace tenon::kinematics
