/*
 * A disk whose waits are counted, and with BENCH_SYNC_MS as slow as that: loaded before Postgres (LD_PRELOAD) by the
 * bench of stored responses. Postgres calls fdatasync for its log alone. A byte for each in the file BENCH_SYNCS:
 * its length is their number, whichever process waited.
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void count_sync(void) {
  const char *file = getenv("BENCH_SYNCS");
  int counted = file ? open(file, O_WRONLY | O_APPEND) : -1;
  if (counted < 0) return;
  if (write(counted, ".", 1) != 1) abort();
  close(counted);
}

static void wait_for_disk(void) {
  const char *text = getenv("BENCH_SYNC_MS");
  long ms = text ? atol(text) : 0;
  struct timespec left = {ms / 1000, (ms % 1000) * 1000000L};
  while (nanosleep(&left, &left) != 0) {
  }
}

int fdatasync(int file) {
  int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  count_sync();
  wait_for_disk();
  return next(file);
}
