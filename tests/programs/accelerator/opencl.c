// Each rank adds two vectors by OpenCL, on whatever device there is, and checks the sum.

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 4096

static void good(cl_int error, const char *what)
{
    if (error != CL_SUCCESS) {
        printf("%s: %d\n", what, error);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
}

static const char *text =
    "__kernel void add(__global const float *a, __global const float *b, __global float *c)"
    "{ size_t i = get_global_id(0); c[i] = a[i] + b[i]; }";

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    static float a[N], b[N], c[N];
    for (int i = 0; i < N; i++) {
        a[i] = i;
        b[i] = 2 * i;
    }
    cl_platform_id platform;
    cl_device_id device;
    cl_int error;
    good(clGetPlatformIDs(1, &platform, NULL), "platform");
    good(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "device");
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    good(error, "context");
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
    good(error, "queue");
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    good(error, "source");
    good(clBuildProgram(program, 1, &device, "", NULL, NULL), "build");
    cl_kernel kernel = clCreateKernel(program, "add", &error);
    good(error, "kernel");
    cl_mem_flags reads = CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR;
    cl_mem one = clCreateBuffer(context, reads, sizeof a, a, &error);
    good(error, "buffer");
    cl_mem other = clCreateBuffer(context, reads, sizeof b, b, &error);
    good(error, "buffer");
    cl_mem sum = clCreateBuffer(context, CL_MEM_WRITE_ONLY, sizeof c, NULL, &error);
    good(error, "buffer");
    good(clSetKernelArg(kernel, 0, sizeof one, &one), "argument");
    good(clSetKernelArg(kernel, 1, sizeof other, &other), "argument");
    good(clSetKernelArg(kernel, 2, sizeof sum, &sum), "argument");
    size_t items = N;
    good(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL), "run");
    good(clEnqueueReadBuffer(queue, sum, CL_TRUE, 0, sizeof c, c, 0, NULL, NULL), "read");
    for (int i = 0; i < N; i++)
        if (c[i] != 3 * i) {
            printf("%d: %f\n", i, c[i]);
            MPI_Abort(MPI_COMM_WORLD, 4);
        }
    return MPI_Finalize();
}
