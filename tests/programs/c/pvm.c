// A master that is started by hand and spawns as many workers as its argument says, from
// its own executable or another. Each worker says that it is there, waits for its task and
// answers; no task is given before all are there.

#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>

enum { HERE = 1, TASK = 2, ANSWER = 3, MOST = 64 };

static int worker(int parent)
{
    int task;
    pvm_initsend(PvmDataDefault);
    pvm_send(parent, HERE);
    pvm_recv(parent, TASK);
    pvm_upkint(&task, 1, 1);
    task = task * task;
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&task, 1, 1);
    pvm_send(parent, ANSWER);
    pvm_exit();
    return 0;
}

int main(int argc, char **argv)
{
    int tasks[MOST], sum = 0, expected = 0;
    if (pvm_mytid() < 0)
        return 1;
    if (pvm_parent() > 0)
        return worker(pvm_parent());
    int workers = argc > 1 ? atoi(argv[1]) : 0;
    if (workers > MOST)
        return 1;
    char *program = argv[argc > 2 ? 2 : 0];
    if (workers > 0 && pvm_spawn(program, NULL, PvmTaskDefault, "", workers, tasks) != workers)
        return 2;
    for (int i = 0; i < workers; i++)
        pvm_recv(-1, HERE);
    for (int i = 0; i < workers; i++) {
        pvm_initsend(PvmDataDefault);
        pvm_pkint(&i, 1, 1);
        pvm_send(tasks[i], TASK);
        expected += i * i;
    }
    for (int i = 0; i < workers; i++) {
        int answer;
        pvm_recv(-1, ANSWER);
        pvm_upkint(&answer, 1, 1);
        sum += answer;
    }
    printf("sum of squares: %d\n", sum);
    pvm_exit();
    return sum == expected ? 0 : 3;
}
