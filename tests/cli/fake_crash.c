// A library that crashes when it is opened.
__attribute__((constructor)) static void crash(void) { __builtin_trap(); }
