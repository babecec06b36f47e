// sluice-echo is a small origin on the gateway's own libraries, for tests and for the quickstart.
#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdio>
#include <optional>
#include <string>

#include "test/support/echo/echo_server.h"

namespace {

std::optional<sluice::net::Address> parseAddress(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view digits = text.substr(colon + 1);
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  std::string_view ip = text.substr(0, colon);
  if (ip.starts_with('[') && ip.ends_with(']')) ip = ip.substr(1, ip.size() - 2);
  return sluice::net::Address::parse(ip, port);
}

int fail(const std::string& text) {
  std::fprintf(stderr, "sluice-echo: %s\n", text.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("A small HTTP origin that says what it was asked: HTTP/1.1 and HTTP/2, with TLS or without.",
               "sluice-echo");
  std::string listen = "127.0.0.1:0";
  sluice::echo::ServerSettings settings;
  bool h1Only = false;
  bool h2Only = false;
  app.add_option("--listen", listen, "ADDR:PORT; port 0 takes a free one, which is printed")->capture_default_str();
  CLI::Option* certificate = app.add_option("--tls-cert", settings.certificateFile, "chain in PEM, leaf first");
  app.add_option("--tls-key", settings.keyFile, "its private key in PEM")->needs(certificate);
  CLI::Option* h1 = app.add_flag("--h1-only", h1Only, "offer only http/1.1 by ALPN");
  app.add_flag("--h2-only", h2Only, "offer only h2 by ALPN")->excludes(h1);
  app.footer(std::string(sluice::echo::kPathsHelp));
  CLI11_PARSE(app, argc, argv);

  const auto address = parseAddress(listen);
  if (!address) return fail("--listen wants ADDR:PORT with an IP address, not " + listen);
  settings.address = *address;
  if (h1Only) settings.protocols = {"http/1.1"};
  if (h2Only) settings.protocols = {"h2"};

  auto server = sluice::echo::EchoServer::make(settings);
  if (!server) return fail(server.error().detail);
  std::printf("listening on %s\n", (*server)->address().toString().c_str());
  std::fflush(stdout);
  (*server)->run();
  return 0;
}
