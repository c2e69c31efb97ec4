// Calls of the operating system that the native libraries make.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <pthread.h>
#include <unistd.h>

#if defined(__linux__)
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#endif

namespace host {

// Whether the calling thread is the main thread of the process; true where the system does not say.
inline bool on_main_thread() {
#if defined(__linux__)
    return syscall(SYS_gettid) == getpid();
#else
    return true;
#endif
}

// The time in nanoseconds that the calling thread has run; time without a core does not count. Takes a system call.
inline std::int64_t thread_nanoseconds() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

// The number of the core that the calling thread runs on; negative where the system does not say.
inline int current_core() {
#if defined(__linux__)
    return sched_getcpu();
#else
    return -1;
#endif
}

// Calls a function in each child that this process forks from now on. Returns 0, or an errno.
inline int in_forked_children(void (*function)()) { return pthread_atfork(nullptr, nullptr, function); }

// Asks for large pages where memory is not used yet; small ones do as well.
inline void prefer_large_pages([[maybe_unused]] void *start, [[maybe_unused]] std::size_t bytes) {
#if defined(MADV_HUGEPAGE)
    madvise(start, bytes, MADV_HUGEPAGE);
#endif
}

// Writes all bytes to an open file. Returns 0, or an errno.
inline int write_all(int fd, const char *p, const char *end) {
    while (p < end) {
        const ssize_t written = ::write(fd, p, static_cast<std::size_t>(end - p));
        if (written > 0) {
            p += written;
        } else if (written == 0) {
            return EIO;
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

// Begins to write a range of an open file to the disk; does nothing where the system cannot begin it without waiting.
inline void begin_flush([[maybe_unused]] int fd, [[maybe_unused]] std::int64_t offset,
                        [[maybe_unused]] std::int64_t bytes) {
#if defined(__linux__)
    sync_file_range(fd, off64_t(offset), off64_t(bytes), SYNC_FILE_RANGE_WRITE);
#endif
}

// Whether an open file is in a file system in main memory (tmpfs); false where the system does not say.
inline bool in_memory([[maybe_unused]] int fd) {
#if defined(__linux__)
    constexpr long TMPFS = 0x01021994; // TMPFS_MAGIC of linux/magic.h
    struct statfs found{};
    return fstatfs(fd, &found) == 0 && long(found.f_type) == TMPFS;
#else
    return false;
#endif
}

// Writes all bytes to an open file, from an offset on. Threads may do so at the same time. Returns 0, or an errno.
inline int write_all_at(int fd, const char *p, const char *end, std::int64_t offset) {
    while (p < end) {
        const ssize_t written = ::pwrite(fd, p, static_cast<std::size_t>(end - p), static_cast<off_t>(offset));
        if (written > 0) {
            p += written;
            offset += written;
        } else if (written == 0) {
            return EIO;
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

} // namespace host
