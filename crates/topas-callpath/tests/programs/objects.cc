// Exceptions, lambdas, std::function, virtual functions, inlining, threads.
#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

extern "C" void check(void);
volatile int zero;

struct Shape {
    virtual ~Shape() { check(); }
    virtual double area(int n) = 0;
};
struct Square : Shape {
    double area(int n) override {
        std::vector<double> room(n + 1, 1.5);
        check();
        if (n > 0) return area(n - 1) + room[n];
        throw std::runtime_error("deep " + std::to_string(n));
    }
};

struct Guard {
    ~Guard() { check(); }
};

static double go(Shape &shape, int n) {
    Guard guard;
    try {
        return shape.area(n);
    } catch (const std::exception &e) {
        check();
        return e.what()[0] + zero;
    }
}

static void work(int n) {
    std::function<void(int)> down = [&](int k) {
        std::string room(k * 3, 'x');
        check();
        if (k > 0) down(k - 1);
        zero = room.size();
    };
    down(n % 9);
    std::vector<int> all(6);
    std::for_each(all.begin(), all.end(), [&](int &value) { value = n; check(); });
    Square square;
    go(square, n % 8);
}

int main() {
    for (int i = 0; i < 60; i++) work(i);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++) threads.emplace_back([] { for (int i = 0; i < 40; i++) work(i); });
    for (auto &thread : threads) thread.join();
}
