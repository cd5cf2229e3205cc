#include "apps/tenon/pictures.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "render/sheet.hpp"
#include "tenon/error.hpp"
#include "tenon/state.hpp"

namespace tenon::app {

Subject::Subject(const Scene& scene) {
    const tenon::Model model = compile(scene);
    const State state = initial_state(model);
    first_ = run::snapshot(state, Outputs(model));
    model_ = render::model_of(model, state, scene);
}

Subject::Subject(const std::string& run_file) : reader_(std::make_unique<run::RunReader>(run_file)) {
    if (reader_->frame_count() == 0)
        throw InputError(run_file, "", "holds no frame yet", "wait until the run has recorded something");
    model_ = render::model_of(*reader_);
}

long Subject::frame_count() const {
    return reader_ ? reader_->frame_count() : 1;
}

run::Frame Subject::frame(long index) const {
    return reader_ ? reader_->frame(index) : first_;
}

render::Stage Subject::stage(const render::RenderOptions& options, const render::CameraWish& wish) const {
    // enough frames to know the motion, few enough to hold in memory
    const long bodies = static_cast<long>(std::max<std::size_t>(1, model_.bodies.size()));
    const long count = std::clamp(400000L / bodies, 2L, 40L);
    std::vector<run::Frame> frames;
    for (long index : render::spread_frames(frame_count(), count)) frames.push_back(frame(index));
    return render::make_stage(model_, frames, options, wish);
}

std::string time_caption(double seconds) {
    return fmt::format("t = {:.3g} s", seconds);
}

render::Image run_sheet(const Subject& subject, int columns, int rows, const render::RenderOptions& options,
                        const render::CameraWish& wish) {
    const render::Stage stage = subject.stage(options, wish);
    std::vector<render::Image> pictures;
    std::vector<std::string> captions;
    for (long index : render::spread_frames(subject.frame_count(), static_cast<long>(columns) * rows)) {
        const run::Frame frame = subject.frame(index);
        pictures.push_back(render::render_frame(subject.model(), frame, stage, options));
        captions.push_back(time_caption(frame.time));
    }
    return render::contact_sheet(pictures, captions,
                                 std::min<int>(columns, static_cast<int>(pictures.size())));
}

}  // namespace tenon::app
