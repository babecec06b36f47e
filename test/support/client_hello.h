// Makes ClientHellos of TLS, as bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

namespace sluice::test {

/// Returns a number in that many bytes.
inline std::string tlsNumber(std::size_t value, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text.push_back(static_cast<char>(value >> (8 * i) & 0xff));
  return text;
}
/// Returns a text behind its length.
inline std::string tlsVector(const std::string& content, int bytes) {
  return tlsNumber(content.size(), bytes) + content;
}

/// Returns the content of the extension server_name for one name of that type.
inline std::string serverNameList(const std::string& name, std::size_t type = 0) {
  return tlsVector(tlsNumber(type, 1) + tlsVector(name, 2), 2);
}
/// Returns the handshake message of a hello with these extensions.
inline std::string helloMessage(const std::string& extensions) {
  const std::string hello = tlsNumber(0x0303, 2) + std::string(32, 'r') + tlsVector("", 1) +
                            tlsVector(tlsNumber(0x1301, 2), 2) + tlsVector(tlsNumber(0, 1), 1) +
                            tlsVector(extensions, 2);
  return tlsNumber(1, 1) + tlsVector(hello, 3);
}
inline std::string helloExtension(std::size_t type, const std::string& content) {
  return tlsNumber(type, 2) + tlsVector(content, 2);
}
/// Returns a handshake message in records of at most `most` bytes each.
inline std::string helloRecords(const std::string& message, std::size_t most = 16384) {
  std::string records;
  for (std::size_t from = 0; from < message.size(); from += most) {
    records += tlsNumber(22, 1) + tlsNumber(0x0301, 2) + tlsVector(message.substr(from, most), 2);
  }
  return records;
}
/// Returns a hello that names a server; one that names none if the name is empty.
inline std::string clientHello(const std::string& name) {
  return helloRecords(helloMessage(name.empty() ? "" : helloExtension(0, serverNameList(name))));
}

}  // namespace sluice::test
