// A library that can be opened and has nothing that anybody looks for.
extern "C" __attribute__((visibility("default"))) int cuprum_test_nothing() { return 0; }
