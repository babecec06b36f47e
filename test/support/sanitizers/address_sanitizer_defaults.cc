// The defaults of AddressSanitizer in programs that are built with it. UndefinedBehaviorSanitizer ends a program by an
// illegal instruction, and this shows where.
extern "C" const char* __asan_default_options();

extern "C" const char* __asan_default_options() { return "handle_sigill=1"; }
