// Threads that stay awake between loops. A simulation step has thousands of loops of some microseconds each: waking a
// thread for every one of them costs more than the loops.
#pragma once

#include <cstddef>
#include <functional>

namespace tenon {

enum class Sharing {
    halves,  // every thread has its part of the range, the same in every loop, so that data stays in its core's cache
    dealt,  // one range to each thread in turn: for few pieces, the longest first
};

// Calls body(begin, end) on the ranges [k grain, (k + 1) grain) of [0, count), shared between this thread and the
// team's. Who is done early takes over from the others. Loops may be started within loops: a thread that waits for the
// end of its loop helps with those that were started in it, and with no others. What a body throws is thrown here.
void share_ranges(std::size_t count, std::size_t grain, int threads, Sharing sharing,
                  const std::function<void(std::size_t, std::size_t)>& body);

}  // namespace tenon
