// The interface between the gateway and payload processors in shared objects, for C and C++.
//
// A library exports one function, sluice_processor_v1(). The gateway loads the library once for the life of the
// process, and calls it on any of its worker threads, several at a time. What a library does runs inside the gateway:
// it is trusted code, and a call that blocks holds up all requests of its worker.
//
// Rules for both sides. Each structure begins with its size, so that a later minor version may add members at its end.
// Nothing that one side has allocated is freed by the other; texts that a function gets are valid during its call only.
// No exception and no longjmp leaves a function. A text is a pointer and a number of bytes, without a NUL at its end;
// the pointer of an empty text may be NULL.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// A gateway takes libraries of its own major version, whatever their minor version is.
#define SLUICE_PROCESSOR_MAJOR 1
#define SLUICE_PROCESSOR_MINOR 2

// The phases of a request's way. A set of phases is the sum of 1 << phase.
enum sluice_phase {
  SLUICE_REQUEST_HEADERS = 0,
  SLUICE_REQUEST_BODY = 1,
  SLUICE_CONNECT = 2,
  SLUICE_BACKEND_REQUEST = 3,
  SLUICE_BACKEND_RESPONSE = 4,
  SLUICE_RESPONSE_HEADERS = 5,
  SLUICE_RESPONSE_BODY = 6
};

// The form in which a use wants the body of a phase that has one: request-body, backend-request, backend-response,
// response-body.
enum sluice_body {
  SLUICE_BODY_NONE = 0,     // it is called once, about the heads
  SLUICE_BODY_WHOLE = 1,    // it is called once, with the whole body, of at most limits.processorBuffer
  SLUICE_BODY_CHUNKS = 2,   // it is called before the first byte, then for each piece as it comes, and for the end
  SLUICE_BODY_INSPECT = 3,  // it sees each piece and the end and changes nothing; the head waits until it has seen all
  // Added to one of them: the body comes without its Content-Encoding (gzip, deflate, br, zstd), and goes on without
  // it.
  SLUICE_BODY_TEXT = 16
};

// The values that process() returns.
enum sluice_verdict {
  SLUICE_CONTINUE = 0,
  SLUICE_WAIT = 1,     // process() is called again once the handle of suspend() is completed
  SLUICE_RESPOND = 2,  // with the answer of respond()
  SLUICE_FAIL = 3      // failOpen of the use decides; fail() has the reason
};

// The values that value() knows. A use with preAuth sees no source, which is empty; connect and backend-request alone
// see the destination.
enum sluice_value {
  SLUICE_METHOD = 0,
  SLUICE_PATH = 1,  // with the query
  SLUICE_AUTHORITY = 2,
  SLUICE_SCHEME = 3,
  SLUICE_SOURCE_ADDRESS = 4,
  SLUICE_SOURCE_NAMESPACE = 5,
  SLUICE_SOURCE_SERVICE_ACCOUNT = 6,
  SLUICE_DESTINATION_HOST = 7,
  SLUICE_DESTINATION_SNI = 8,
  SLUICE_GATEWAY = 9,  // "namespace/name"
  SLUICE_ROUTE = 10,
  SLUICE_BACKEND = 11,
  // Gateways whose `minor` is at least 2 know these, too.
  SLUICE_SOURCE_PRINCIPAL = 12,  // the name that the client has proven, such as a SPIFFE ID
  // The proof: "Certificate", "Token", "Address" or "None". The namespace, service account and principal are known only
  // if it is not "None".
  SLUICE_SOURCE_ASSURANCE = 13
};

// The levels of log().
enum sluice_level { SLUICE_DEBUG = 0, SLUICE_INFO = 1, SLUICE_WARN = 2 };

// One call of process(). It is valid until that call returns.
struct sluice_call;

// The functions that the gateway offers. Functions with a call may be used during that call, on its thread. Those that
// return int return 1 if they did what was asked, and 0 if they could not: there is no such thing, or the phase, a
// name, a value or a size does not permit it. A size that no text of that kind can have makes the step fail.
struct sluice_host {
  size_t size;
  uint32_t major;
  uint32_t minor;

  // Returns the phase.
  int (*phase)(struct sluice_call* call);
  // Returns the status of the response; 0 in phases of the request.
  int (*status)(struct sluice_call* call);
  // Finds one of enum sluice_value.
  int (*value)(struct sluice_call* call, int which, const char** text, size_t* size);

  // Find header fields: of the request in phases of the request, else of the response. Names are in lower case. Fields
  // that the gateway has put in for the Backend alone, such as its credentials, are not among them.
  size_t (*header_count)(struct sluice_call* call);
  int (*header_at)(struct sluice_call* call, size_t index, const char** name, size_t* name_size, const char** value,
                   size_t* value_size);
  int (*header)(struct sluice_call* call, const char* name, size_t name_size, const char** value, size_t* value_size);
  // Change them, until the first bytes of a body in chunks have come. Fields of the gateway (framing, host, via) cannot
  // be changed.
  int (*header_set)(struct sluice_call* call, const char* name, size_t name_size, const char* value, size_t value_size);
  int (*header_add)(struct sluice_call* call, const char* name, size_t name_size, const char* value, size_t value_size);
  int (*header_remove)(struct sluice_call* call, const char* name, size_t name_size);
  // Sets path and query, in phases of the request.
  int (*set_path)(struct sluice_call* call, const char* path, size_t size);
  // Sets the status of the response to another one of 200 to 599 that has content too.
  int (*set_status)(struct sluice_call* call, int status);

  // Returns the length of the body that the head states; -1 if it states none.
  int64_t (*stated_size)(struct sluice_call* call);
  // Returns 1 if this call is about bytes of a body, or its end.
  int (*has_body)(struct sluice_call* call);
  // Return the number of bytes that this call is about, and whether none come behind them.
  size_t (*body_size)(struct sluice_call* call);
  int (*body_is_last)(struct sluice_call* call);
  // Copies at most `size` of them from `offset` on, and returns their number.
  size_t (*body_read)(struct sluice_call* call, size_t offset, char* to, size_t size);
  // Adds bytes that go on in the place of those of this call. The first one of a call, even of no bytes, takes the
  // others away.
  int (*body_write)(struct sluice_call* call, const char* bytes, size_t size);

  // Make the answer of SLUICE_RESPOND. An empty body stands for the gateway's own document.
  int (*respond)(struct sluice_call* call, int status, const char* body, size_t size);
  int (*respond_header)(struct sluice_call* call, const char* name, size_t name_size, const char* value,
                        size_t value_size);
  // Sets the reason of SLUICE_FAIL: a short sentence for the log, without secrets.
  int (*fail)(struct sluice_call* call, const char* reason, size_t size);

  // The addresses that connect may use; what is removed is not dialled, and with none left the request is denied. In
  // backend-request the only one is that of the connection, and cannot be removed.
  size_t (*address_count)(struct sluice_call* call);
  int (*address_at)(struct sluice_call* call, size_t index, const char** ip, size_t* size, int* port);
  int (*address_remove)(struct sluice_call* call, size_t index);

  // Get and set a pointer that belongs to the library and stays with this step between its calls. It is NULL at first,
  // and end() gets it.
  void* (*memory)(struct sluice_call* call);
  void (*set_memory)(struct sluice_call* call, void* memory);

  // Returns a handle by which the step, once process() has returned SLUICE_WAIT, is called again. Never 0.
  uint64_t (*suspend)(struct sluice_call* call);
  // Has the step called again. Any thread may do so, at any time. Returns 0, and does nothing, if the handle was
  // completed before or nobody waits any more: the step has timed out, or its request is gone.
  int (*complete)(uint64_t handle);

  // The members from here on are there if `minor` is at least 1.

  // Writes a line into the log of the process; at most 16 in a step. Texts that clients have sent may be secrets.
  int (*log)(struct sluice_call* call, int level, const char* text, size_t size);
  // Has the route matched again, once, where a step may ask for that: in request-headers and request-body of a Gateway
  // or route.
  int (*rematch)(struct sluice_call* call);
  // Adds a field for route matching alone, there too.
  int (*hint)(struct sluice_call* call, const char* name, size_t name_size, const char* value, size_t value_size);
  // Find and change the fields behind a body, once its end has come. A field that only a head may have is not added.
  size_t (*trailer_count)(struct sluice_call* call);
  int (*trailer_at)(struct sluice_call* call, size_t index, const char** name, size_t* name_size, const char** value,
                    size_t* value_size);
  int (*trailer_set)(struct sluice_call* call, const char* name, size_t name_size, const char* value,
                     size_t value_size);
  int (*trailer_remove)(struct sluice_call* call, const char* name, size_t name_size);
};

// The functions that the library offers. The gateway keeps the pointer, and does not change the table behind it.
struct sluice_processor {
  size_t size;
  uint32_t major;
  uint32_t minor;

  // The set of phases in which it runs. A use that names no phase runs in those that its type in the catalog has too.
  uint32_t phases;

  // Called for each use when a configuration is loaded. `type` is the type of the catalog, and `config` the config of
  // the use as JSON, which satisfies the schema of the type. Stores in `use` what the library keeps for the use, and
  // returns 0. Otherwise writes the reason into `error`, which has room for `error_size` bytes, and returns its length:
  // the use is then refused with that text. `phases` is the set of phases in which the use may run.
  size_t (*configure)(const char* type, size_t type_size, const char* config, size_t config_size, uint32_t phases,
                      void** use, char* error, size_t error_size);
  // Called once when nothing needs the use any more, on any thread.
  void (*release)(void* use);
  // Returns how the use wants the body of a phase, one of enum sluice_body. NULL: it wants none.
  int (*body)(void* use, int phase);
  // Called for each step. Returns one of enum sluice_verdict.
  int (*process)(void* use, struct sluice_call* call);
  // Called once when a step that has set its memory will not be called again, on the thread of the step. May be NULL.
  void (*end)(void* use, void* memory);
};

// The function that a library exports. Returns NULL if the library cannot run with this gateway. `host` is valid for
// the life of the process. A library that is refused is unloaded, so this function starts no threads.
const struct sluice_processor* sluice_processor_v1(const struct sluice_host* host);

#ifdef __cplusplus
}
#endif
