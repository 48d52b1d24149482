/* A library to preload: counts, records, fails or ends writes and syncs of files below one folder, and moves the clock.
 *
 * FAULTS_CONTROL  a file of 4096 bytes that is shared with the proof (struct control)
 * FAULTS_UNDER    only files whose path begins so are touched
 * FAULTS_TRACE    where writes, syncs, truncations and names are recorded in their order; empty for nowhere
 *
 * All operations on those files pass one lock, so the trace has the order in which they happened.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { NONE = 0, EIO_ONCE = 1, FULL = 2, SHORT = 3, KILL = 4, TORN = 5 };
enum { WRITE = 'W', SYNC = 'S', TRUNCATE = 'T', RENAME = 'R', REMOVE = 'U' };

struct control {
    uint64_t count;    /* operations so far */
    uint64_t at;       /* the operation that the fault is for; FULL applies from there on */
    int64_t kind;
    uint64_t hits;     /* operations that were failed */
    int64_t clock_us;  /* what is added to the clock of the day */
};

static struct control none, *control = &none;
static const char *under = "";
static int trace = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*real_write)(int, const void *, size_t);
static int (*real_fsync)(int), (*real_fdatasync)(int), (*real_ftruncate)(int, off_t);
static int (*real_rename)(const char *, const char *);
static int (*real_unlink)(const char *);
static int (*real_clock)(clockid_t, struct timespec *);
static int (*real_day)(struct timeval *, void *);

static void find(void) {
    if (real_clock) return;
    real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
    real_write = dlsym(RTLD_NEXT, "write");
    real_fsync = dlsym(RTLD_NEXT, "fsync");
    real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
    real_ftruncate = dlsym(RTLD_NEXT, "ftruncate64");
    real_rename = dlsym(RTLD_NEXT, "rename");
    real_unlink = dlsym(RTLD_NEXT, "unlink");
    real_day = dlsym(RTLD_NEXT, "gettimeofday");
    real_clock = dlsym(RTLD_NEXT, "clock_gettime");
}

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("FAULTS_CONTROL"), *to = getenv("FAULTS_TRACE");
    find();
    if (!path) return;
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return;
    void *shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (shared == MAP_FAILED) return;
    control = shared;
    under = strdup(getenv("FAULTS_UNDER") ? getenv("FAULTS_UNDER") : "/nowhere/");
    if (to && *to) trace = open(to, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    /* What the product starts is not what is tried. */
    unsetenv("LD_PRELOAD");
}

/* The path of a regular file that is to be touched; 0 for every other. */
static int ours(int file, char *path, uint64_t *inode) {
    struct stat about;
    char link[64];
    int saved = errno;
    int found = 0;
    if (control != &none && fstat(file, &about) == 0 && S_ISREG(about.st_mode)) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", file);
        ssize_t size = readlink(link, path, 1023);
        if (size > 0) {
            path[size] = 0;
            *inode = about.st_ino;
            found = strncmp(path, under, strlen(under)) == 0 && !strstr(path, "-shm");
        }
    }
    errno = saved;
    return found;
}

/* Regardless of the shared memory of SQLite, which lives no longer than its processes: whether a full disk refuses it. */
static int grows(int file, size_t size, off_t offset) {
    struct stat about;
    return fstat(file, &about) == 0 && offset + (off_t)size > about.st_size;
}

static void put(const void *data, size_t size) {
    while (size > 0) {
        ssize_t done = syscall(SYS_write, trace, data, size);
        if (done <= 0) _exit(97);
        data = (const char *)data + done;
        size -= done;
    }
}

static void record(char what, const char *path, uint64_t inode, int64_t offset, const void *data, uint32_t size) {
    if (trace < 0) return;
    uint16_t length = strlen(path);
    char head[32];
    memcpy(head, &what, 1);
    memcpy(head + 1, &inode, 8);
    memcpy(head + 9, &offset, 8);
    memcpy(head + 17, &size, 4);
    memcpy(head + 21, &length, 2);
    put(head, 23);
    put(path, length);
    if (what == WRITE) put(data, size);
}

static int due(void) { return control->kind != NONE && control->at && control->count + 1 == control->at; }
static int since(void) { return control->at && control->count + 1 >= control->at; }

static void end(void) {
    syscall(SYS_kill, getpid(), SIGKILL);
    for (;;) pause();
}

static ssize_t put_at(int file, const void *data, size_t size, off_t offset, int moves) {
    char path[1024];
    uint64_t inode;
    ssize_t done;
    find();
    if (control->kind == FULL && since() && grows(file, size, offset)) {
        char link[64], name[1024];
        snprintf(link, sizeof link, "/proc/self/fd/%d", file);
        ssize_t length = readlink(link, name, 1023);
        if (length > 0 && (name[length] = 0, strncmp(name, under, strlen(under)) == 0)) {
            __atomic_add_fetch(&control->hits, 1, __ATOMIC_SEQ_CST);
            errno = ENOSPC;
            return -1;
        }
    }
    if (!ours(file, path, &inode)) return moves ? real_write(file, data, size) : real_pwrite(file, data, size, offset);
    pthread_mutex_lock(&lock);
    /* A short write falls into the first write from there on: the operation may be a sync. */
    if ((control->kind == SHORT ? since() : due()) && control->kind != FULL) {
        control->hits++;
        if (control->kind == KILL) end();
        if (control->kind == EIO_ONCE) {
            control->count++;
            pthread_mutex_unlock(&lock);
            errno = EIO;
            return -1;
        }
        size_t half = size > 1 ? size / 2 : 1;
        done = moves ? real_write(file, data, half) : real_pwrite(file, data, half, offset);
        if (control->kind == TORN) end();
        /* SHORT: the rest is refused, as on a disk that filled in the middle. */
        control->count++;
        control->kind = FULL;
        pthread_mutex_unlock(&lock);
        return done;
    }
    done = moves ? real_write(file, data, size) : real_pwrite(file, data, size, offset);
    if (done > 0) record(WRITE, path, inode, offset, data, done);
    __atomic_add_fetch(&control->count, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&lock);
    return done;
}

ssize_t pwrite64(int file, const void *data, size_t size, off_t offset) { return put_at(file, data, size, offset, 0); }
ssize_t pwrite(int file, const void *data, size_t size, off_t offset) { return put_at(file, data, size, offset, 0); }

ssize_t write(int file, const void *data, size_t size) {
    find();
    if (control == &none) return real_write(file, data, size);
    off_t offset = lseek(file, 0, SEEK_CUR);
    if (offset < 0) return real_write(file, data, size);
    if (fcntl(file, F_GETFL) & O_APPEND) {
        struct stat about;
        if (fstat(file, &about) == 0) offset = about.st_size;
    }
    return put_at(file, data, size, offset, 1);
}

static int sync_file(int file, int (*real)(int)) {
    char path[1024];
    uint64_t inode;
    if (!ours(file, path, &inode)) return real(file);
    pthread_mutex_lock(&lock);
    if (control->kind == KILL && due()) end();
    if (control->kind == EIO_ONCE && due()) {
        control->hits++;
        control->count++;
        pthread_mutex_unlock(&lock);
        errno = EIO;
        return -1;
    }
    /* The trace records what was synced, so a wait for the real disk is not needed. */
    record(SYNC, path, inode, 0, 0, 0);
    __atomic_add_fetch(&control->count, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&lock);
    return 0;
}

int fsync(int file) { find(); return sync_file(file, real_fsync); }
int fdatasync(int file) { find(); return sync_file(file, real_fdatasync); }

static int cut(int file, off_t size) {
    char path[1024];
    uint64_t inode;
    find();
    if (!ours(file, path, &inode)) return real_ftruncate(file, size);
    pthread_mutex_lock(&lock);
    if (control->kind == KILL && due()) end();
    int done = real_ftruncate(file, size);
    if (done == 0) record(TRUNCATE, path, inode, size, 0, 0);
    __atomic_add_fetch(&control->count, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&lock);
    return done;
}

int ftruncate64(int file, off_t size) { return cut(file, size); }
int ftruncate(int file, off_t size) { return cut(file, size); }

int rename(const char *from, const char *to) {
    struct stat about;
    find();
    int done = real_rename(from, to);
    if (done == 0 && control != &none && strncmp(to, under, strlen(under)) == 0 && stat(to, &about) == 0) {
        pthread_mutex_lock(&lock);
        record(RENAME, to, about.st_ino, 0, 0, 0);
        pthread_mutex_unlock(&lock);
    }
    return done;
}

/* SQLite would roll back a removed journal that exists again. */
int unlink(const char *path) {
    find();
    if (control == &none || strncmp(path, under, strlen(under)) != 0) return real_unlink(path);
    pthread_mutex_lock(&lock);
    int done = real_unlink(path);
    int saved = errno;
    if (done == 0) record(REMOVE, path, 0, 0, 0, 0);
    pthread_mutex_unlock(&lock);
    errno = saved;
    return done;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    find();
    int done = real_clock(clock, now);
    if (done == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) && control->clock_us) {
        int64_t ns = now->tv_nsec + (control->clock_us % 1000000) * 1000;
        now->tv_sec += control->clock_us / 1000000;
        if (ns < 0) { now->tv_sec--; ns += 1000000000; }
        if (ns >= 1000000000) { now->tv_sec++; ns -= 1000000000; }
        now->tv_nsec = ns;
    }
    return done;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    find();
    int done = real_day(now, zone);
    struct timespec moved;
    if (done == 0 && control->clock_us && clock_gettime(CLOCK_REALTIME, &moved) == 0) {
        now->tv_sec = moved.tv_sec;
        now->tv_usec = moved.tv_nsec / 1000;
    }
    return done;
}

time_t time(time_t *out) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out) *out = now.tv_sec;
    return now.tv_sec;
}
