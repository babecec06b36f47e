// What the process asks of the system before it begins to serve: descriptors, no core files, memory, standard streams.
#pragma once

#include <cstddef>

namespace sluice::server {

/// Raises the soft limit of 1024, which is too low: each client connection takes a descriptor and each backend
/// connection another. Returns how many the process may have.
std::size_t raiseDescriptorLimit();
/// A core file would hold keys and credentials.
void forbidCoreFiles();
/// Has the allocator share freed memory between threads.
void shareFreedMemory();
/// Opens standard streams that were closed. Otherwise the next file would get the number of such a stream, and
/// everything that is printed.
void fillStandardStreams();

}  // namespace sluice::server
