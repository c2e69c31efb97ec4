// Large arrays whose entries have no value until they are written: the threads that write them first also share the
// page faults.
#pragma once

#include <memory>
#include <utility>
#include <vector>

namespace triangulation {

template <class T> struct WithoutValues : std::allocator<T> {
    template <class U> struct rebind {
        using other = WithoutValues<U>;
    };
    template <class U> void construct(U *place) { ::new (static_cast<void *>(place)) U; }
    template <class U, class... Arguments> void construct(U *place, Arguments &&...arguments) {
        ::new (static_cast<void *>(place)) U(std::forward<Arguments>(arguments)...);
    }
};

template <class T> using Table = std::vector<T, WithoutValues<T>>;

} // namespace triangulation
