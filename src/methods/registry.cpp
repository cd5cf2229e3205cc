// The methods, by name. A new method adds one declaration and one line here.
#include <fmt/format.h>

#include "scene/method_schema.hpp"
#include "tenon/method.hpp"

namespace tenon {

MethodInfo affine_method();
MethodInfo articulated_method();
MethodInfo impulse_method();
MethodInfo adaptive_method();
MethodInfo volume_method();

const std::vector<MethodInfo>& all_methods() {
    static const std::vector<MethodInfo> methods = {
        affine_method(), articulated_method(), impulse_method(), adaptive_method(), volume_method(),
    };
    return methods;
}

const std::vector<scene::MethodSchema>& scene::method_schemas() {
    static const std::vector<MethodSchema> schemas = [] {
        std::vector<MethodSchema> made;
        for (const MethodInfo& method : all_methods())
            made.push_back({method.name, method.summary, method.parameters});
        return made;
    }();
    return schemas;
}

const MethodInfo& find_method(const std::string& name, const Origin& origin) {
    std::vector<std::string> names;
    for (const MethodInfo& method : all_methods()) {
        if (method.name == name) return method;
        names.push_back(method.name);
    }
    throw InputError(origin.file, origin.path, fmt::format("unknown method '{}'", name),
                     suggestion(name, names));
}

}  // namespace tenon
