/* Opens events as a measuring program does, and prints what it gets.
 *
 *   counters events group|single CONFIG...    raw events: value, times, id, or the error
 *   counters processes N group CONFIG...      the same in N children at once
 *   counters threads N group CONFIG...        the same in N threads at once
 *   counters user CONFIG | all CONFIG         one event with and without exclude_kernel
 *   counters killed CONFIG                    a child is killed while it opens
 *   counters alarmed CONFIG                   a signal arrives while it opens
 *   counters disabled CONFIG                  a leader that is never enabled, and a sibling
 *   counters flood BYTES                      output that a pipe holds at the exit
 *   counters rules                            odd opens of a software event: errors only
 *   counters plain                            no event at all
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_EVENTS 16
#define HIGH 500

static int open_event(struct perf_event_attr *attr, int pid, int cpu, int leader, unsigned long flags)
{
    return (int)syscall(SYS_perf_event_open, attr, pid, cpu, leader, flags);
}

static struct perf_event_attr raw(uint64_t config)
{
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.type = PERF_TYPE_RAW;
    attr.size = PERF_ATTR_SIZE_VER0;
    attr.config = config;
    attr.inherit = 1;
    attr.exclude_kernel = 1;
    attr.exclude_hv = 1;
    attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    return attr;
}

/* Reads each event twice; the id is asked of the first and of the moved descriptor. */
static void events(int grouped, int count, char **configs)
{
    int fd[MAX_EVENTS], leader = -1;
    char out[8192];
    size_t used = 0;
    for (int i = 0; i < count && i < MAX_EVENTS; i++) {
        uint64_t config = strtoull(configs[i], NULL, 0), first = 0, moved = 0;
        uint64_t one[3] = {0}, two[3] = {0};
        struct perf_event_attr attr = raw(config);
        int low = open_event(&attr, 0, -1, grouped ? leader : -1, PERF_FLAG_FD_CLOEXEC);
        if (low < 0) {
            used += snprintf(out + used, sizeof out - used, "%#llx error %d\n",
                             (unsigned long long)config, errno);
            continue;
        }
        int cloexec = fcntl(low, F_GETFD) & FD_CLOEXEC;
        int asked = ioctl(low, PERF_EVENT_IOC_ID, &first);
        fd[i] = fcntl(low, F_DUPFD_CLOEXEC, HIGH);
        close(low);
        if (leader < 0)
            leader = fd[i];
        asked |= ioctl(fd[i], PERF_EVENT_IOC_ID, &moved);
        int one_size = (int)read(fd[i], one, sizeof one);
        int two_size = (int)read(fd[i], two, sizeof two);
        used += snprintf(out + used, sizeof out - used,
                         "%#llx %llu %llu %llu then %llu %llu %llu bytes %d %d id %llu %s high %d cloexec %d\n",
                         (unsigned long long)config, (unsigned long long)one[0],
                         (unsigned long long)one[1], (unsigned long long)one[2],
                         (unsigned long long)two[0], (unsigned long long)two[1],
                         (unsigned long long)two[2], one_size, two_size,
                         (unsigned long long)first,
                         asked == 0 && first == moved ? "same" : "differs", fd[i] >= HIGH,
                         cloexec != 0);
    }
    if (write(1, out, used) != (ssize_t)used)
        exit(9);
}

static int thread_count;
static char **thread_configs;

static void *thread_events(void *unused)
{
    events(1, thread_count, thread_configs);
    return unused;
}

static void report(const char *name, int fd)
{
    printf("%s %d\n", name, fd < 0 ? errno : 0);
}

/* Each case differs from a good open in the one thing it names. */
static void rules(void)
{
    struct perf_event_attr good = raw(PERF_COUNT_SW_DUMMY), attr;
    struct { struct perf_event_attr attr; unsigned char tail[128]; } large;
    good.type = PERF_TYPE_SOFTWARE;
    int leader = open_event(&good, 0, -1, -1, 0);
    report("good", leader);
    int sibling = open_event(&good, 0, -1, leader, 0);
    report("sibling", sibling);
    report("sibling_of_sibling", open_event(&good, 0, -1, sibling, 0));
    report("group_fd_is_a_pipe_or_file", open_event(&good, 0, -1, 1, 0));
    report("group_fd_closed", open_event(&good, 0, -1, 900, 0));
    attr = good; attr.inherit = 0;
    report("no_group", open_event(&attr, 0, -1, leader, PERF_FLAG_FD_NO_GROUP));
    report("unknown_flag", open_event(&good, 0, -1, -1, 1 << 5));
    report("no_task_no_cpu", open_event(&good, -1, -1, -1, 0));
    report("no_such_task", open_event(&good, 0x7ffffff0, -1, -1, 0));
    report("null_attr", open_event(NULL, 0, -1, -1, 0));
    attr = good; attr.inherit = 0;
    report("inherit_differs", open_event(&attr, 0, -1, leader, 0));
    attr = good; attr.pinned = 1;
    report("pinned_leader", open_event(&attr, 0, -1, -1, 0));
    report("pinned_sibling", open_event(&attr, 0, -1, leader, 0));
    attr = good; attr.exclusive = 1;
    report("exclusive_sibling", open_event(&attr, 0, -1, leader, 0));
    attr = good; attr.size = 0;
    report("size_0", open_event(&attr, 0, -1, -1, 0));
    attr = good; attr.size = 32;
    report("size_32", open_event(&attr, 0, -1, -1, 0));
    attr = good; attr.size = 5000;
    report("size_5000", open_event(&attr, 0, -1, -1, 0));
    memset(&large, 0, sizeof large);
    large.attr = good; large.attr.size = sizeof large;
    report("size_large_zero_tail", open_event(&large.attr, 0, -1, -1, 0));
    large.tail[100] = 1;
    report("size_large_set_tail", open_event(&large.attr, 0, -1, -1, 0));
    attr = good; attr.read_format = 1 << 10;
    report("unknown_read_format", open_event(&attr, 0, -1, -1, 0));
    attr = good; ((uint64_t *)&attr)[5] |= 1ull << 63;
    report("reserved_bit", open_event(&attr, 0, -1, -1, 0));
    attr = good; attr.inherit = 0; ((uint64_t *)&attr)[5] |= 1ull << 35;
    report("inherit_thread_alone", open_event(&attr, 0, -1, -1, 0));
    attr = good; ((uint64_t *)&attr)[5] |= 1ull << 35;
    report("inherit_thread", open_event(&attr, 0, -1, -1, 0));
    attr = good; attr.enable_on_exec = 1; ((uint64_t *)&attr)[5] |= 1ull << 36;
    report("remove_and_enable_on_exec", open_event(&attr, 0, -1, -1, 0));
}

static volatile sig_atomic_t alarms;

static void on_alarm(int unused)
{
    (void)unused;
    alarms++;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    setvbuf(stdout, NULL, _IOFBF, 65536);
    if (!strcmp(mode, "events") && argc > 3) {
        events(!strcmp(argv[2], "group"), argc - 3, argv + 3);
    } else if (!strcmp(mode, "processes") && argc > 4) {
        for (int i = 0; i < atoi(argv[2]); i++) {
            if (fork() == 0) {
                events(1, argc - 4, argv + 4);
                _exit(0);
            }
        }
        int status, failed = 0;
        while (wait(&status) > 0)
            failed |= status;
        return failed != 0;
    } else if (!strcmp(mode, "threads") && argc > 4) {
        pthread_t thread[64];
        int n = atoi(argv[2]);
        thread_count = argc - 4;
        thread_configs = argv + 4;
        for (int i = 0; i < n; i++)
            pthread_create(&thread[i], NULL, thread_events, NULL);
        for (int i = 0; i < n; i++)
            pthread_join(thread[i], NULL);
    } else if ((!strcmp(mode, "user") || !strcmp(mode, "all")) && argc > 2) {
        struct perf_event_attr attr = raw(strtoull(argv[2], NULL, 0));
        attr.exclude_kernel = !strcmp(mode, "user");
        report(mode, open_event(&attr, 0, -1, -1, 0));
    } else if (!strcmp(mode, "killed") && argc > 2) {
        struct perf_event_attr attr = raw(strtoull(argv[2], NULL, 0));
        int about_to_open[2];
        char byte = 0;
        if (pipe(about_to_open))
            return 9;
        pid_t child = fork();
        if (child == 0) {
            if (write(about_to_open[1], &byte, 1) == 1)
                open_event(&attr, 0, -1, -1, 0);
            _exit(0);
        }
        if (read(about_to_open[0], &byte, 1) != 1)
            return 9;
        usleep(200000);
        kill(child, SIGKILL);
        int status;
        waitpid(child, &status, 0);
        printf("child %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    } else if (!strcmp(mode, "alarmed") && argc > 2) {
        struct perf_event_attr attr = raw(strtoull(argv[2], NULL, 0));
        struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
        struct itimerval timer = {{0, 0}, {0, 50000}};
        sigaction(SIGALRM, &action, NULL);
        setitimer(ITIMER_REAL, &timer, NULL);
        report("open", open_event(&attr, 0, -1, -1, 0));
        printf("alarms %d\n", (int)alarms);
    } else if (!strcmp(mode, "disabled") && argc > 2) {
        struct perf_event_attr attr = raw(strtoull(argv[2], NULL, 0));
        attr.disabled = 1;
        int leader = open_event(&attr, 0, -1, -1, 0);
        attr.disabled = 0;
        int fd[] = {leader, open_event(&attr, 0, -1, leader, 0), open_event(&attr, 0, -1, -1, 0)};
        for (int i = 0; i < 3; i++) {
            uint64_t got[3] = {0};
            int size = (int)read(fd[i], got, sizeof got);
            printf("%d %llu %llu %llu\n", size, (unsigned long long)got[0],
                   (unsigned long long)got[1], (unsigned long long)got[2]);
        }
    } else if (!strcmp(mode, "flood") && argc > 2) {
        size_t size = strtoull(argv[2], NULL, 0);
        char *bytes = calloc(1, size);
        fcntl(1, F_SETPIPE_SZ, (int)size);
        return bytes == NULL || write(1, bytes, size) != (ssize_t)size;
    } else if (!strcmp(mode, "rules")) {
        rules();
    } else if (!strcmp(mode, "plain")) {
        uint64_t id = 7;
        int waiting = -1, pipes[2];
        int lowest = dup(0);
        if (pipe(pipes) || write(pipes[1], "abc", 3) != 3)
            return 9;
        printf("lowest free descriptor %d\n", lowest);
        printf("unread %d %d\n", ioctl(pipes[0], FIONREAD, &waiting), waiting);
        int asked = ioctl(pipes[0], PERF_EVENT_IOC_ID, &id);
        printf("id of a pipe %d %d %d\n", asked, errno, (int)id);
        asked = ioctl(900, PERF_EVENT_IOC_ID, &id);
        printf("id of nothing %d %d\n", asked, errno);
        fprintf(stderr, "to standard error\n");
        return 3;
    } else {
        return 64;
    }
    return 0;
}
