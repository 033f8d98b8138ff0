/* A library that is loaded and unloaded. Two of them have frames of different sizes. */
#include <string.h>
void check(void);
volatile int part_zero;
#ifndef SIZE
#define SIZE 40
#endif
int part(int n) {
    char room[SIZE + 8];
    memset(room, n, sizeof room);
    check();
    if (n > 0) part(n - 1);
    check();
    return room[n % SIZE] + part_zero;
}
