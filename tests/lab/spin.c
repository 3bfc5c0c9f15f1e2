/* Waits a second on one kind of clock, without a pause; prints what CLOCK_MONOTONIC says it took, in
 * nanoseconds. Linked statically: nothing between it and the kernel can help it. */
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

static long long ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(int count, char **words)
{
	const char *kind = count > 1 ? words[1] : "";
	long long begun = ns(CLOCK_MONOTONIC), until;

	if (!strcmp(kind, "times")) {
		until = times(NULL) + sysconf(_SC_CLK_TCK);
		while (times(NULL) < until)
			;
	} else if (!strcmp(kind, "time")) {
		until = time(NULL) + 1;
		while (time(NULL) < until)
			;
	} else if (!strcmp(kind, "coarse")) {
		until = ns(CLOCK_MONOTONIC_COARSE) + 1000000000LL;
		while (ns(CLOCK_MONOTONIC_COARSE) < until)
			;
	} else if (!strcmp(kind, "cpu")) {
		until = ns(CLOCK_PROCESS_CPUTIME_ID) + 1000000000LL;
		while (ns(CLOCK_PROCESS_CPUTIME_ID) < until)
			;
	} else if (!strcmp(kind, "usage")) {
		struct rusage usage;

		do {
			getrusage(RUSAGE_SELF, &usage);
			until = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec;
			until = until * 1000000 + usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
		} while (until < 1000000);
	} else if (!strcmp(kind, "yield")) {
		until = ns(CLOCK_MONOTONIC_COARSE) + 1000000000LL;
		do {
			for (int n = 0; n < 100; n++)
				sched_yield();
		} while (ns(CLOCK_MONOTONIC_COARSE) < until);
	} else if (!strcmp(kind, "poll")) {
		int pipes[2];
		struct pollfd end = { .events = POLLIN };

		/* Another process writes when a tenth of it has passed. */
		if (pipe(pipes))
			return 1;
		end.fd = pipes[0];
		if (!fork()) {
			usleep(100000);
			return write(pipes[1], "x", 1) != 1;
		}
		while (poll(&end, 1, 0) == 0)
			;
	} else {
		return 2;
	}
	printf("%lld\n", ns(CLOCK_MONOTONIC) - begun);
	return 0;
}
