// Lists every fuzzer: its name, which is also the name of its corpus' folder, and the function that takes one input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice::test {

int fuzzH1Server(const std::uint8_t* data, std::size_t size);
int fuzzH1Client(const std::uint8_t* data, std::size_t size);
int fuzzH2Server(const std::uint8_t* data, std::size_t size);
int fuzzH2Client(const std::uint8_t* data, std::size_t size);
int fuzzH2Messages(const std::uint8_t* data, std::size_t size);
int fuzzRequestPair(const std::uint8_t* data, std::size_t size);
int fuzzProxyStatus(const std::uint8_t* data, std::size_t size);
int fuzzFirstFlight(const std::uint8_t* data, std::size_t size);
int fuzzJson(const std::uint8_t* data, std::size_t size);
int fuzzJsonScan(const std::uint8_t* data, std::size_t size);
int fuzzFormScan(const std::uint8_t* data, std::size_t size);
int fuzzJsonEdit(const std::uint8_t* data, std::size_t size);
int fuzzSchema(const std::uint8_t* data, std::size_t size);
int fuzzDecoder(const std::uint8_t* data, std::size_t size);
int fuzzSse(const std::uint8_t* data, std::size_t size);
int fuzzYaml(const std::uint8_t* data, std::size_t size);
int fuzzQuery(const std::uint8_t* data, std::size_t size);
int fuzzBodyPath(const std::uint8_t* data, std::size_t size);
int fuzzExpression(const std::uint8_t* data, std::size_t size);
int fuzzExtProc(const std::uint8_t* data, std::size_t size);
int fuzzLua(const std::uint8_t* data, std::size_t size);
int fuzzLuaDocument(const std::uint8_t* data, std::size_t size);
int fuzzExchange(const std::uint8_t* data, std::size_t size);
int fuzzProcess(const std::uint8_t* data, std::size_t size);
int fuzzSession(const std::uint8_t* data, std::size_t size);
int fuzzCookie(const std::uint8_t* data, std::size_t size);
int fuzzPasswords(const std::uint8_t* data, std::size_t size);
int fuzzTarget(const std::uint8_t* data, std::size_t size);
int fuzzSni(const std::uint8_t* data, std::size_t size);
int fuzzCompile(const std::uint8_t* data, std::size_t size);

struct Fuzzer {
  std::string_view name;
  int (*run)(const std::uint8_t* data, std::size_t size);
};

inline constexpr Fuzzer kFuzzers[] = {
    {"h1_server", fuzzH1Server},
    {"h1_client", fuzzH1Client},
    {"h2_server", fuzzH2Server},
    {"h2_client", fuzzH2Client},
    {"h2_messages", fuzzH2Messages},
    {"request_pair", fuzzRequestPair},
    {"proxy_status", fuzzProxyStatus},
    {"first_flight", fuzzFirstFlight},
    {"json", fuzzJson},
    {"json_scan", fuzzJsonScan},
    {"form_scan", fuzzFormScan},
    {"json_edit", fuzzJsonEdit},
    {"schema", fuzzSchema},
    {"decoder", fuzzDecoder},
    {"sse", fuzzSse},
    {"yaml", fuzzYaml},
    {"query", fuzzQuery},
    {"body_path", fuzzBodyPath},
    {"expression", fuzzExpression},
    {"ext_proc", fuzzExtProc},
    {"lua", fuzzLua},
    {"lua_document", fuzzLuaDocument},
    {"exchange", fuzzExchange},
    {"process", fuzzProcess},
    {"session", fuzzSession},
    {"cookie", fuzzCookie},
    {"passwords", fuzzPasswords},
    {"target", fuzzTarget},
    {"sni", fuzzSni},
    {"compile", fuzzCompile},
};

}  // namespace sluice::test
