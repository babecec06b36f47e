#include "proxy/server/command_line/forwarding_flags.h"

#include <CLI/CLI.hpp>

namespace sluice::server {

void takeForwarding(CLI::App& run, CLI::Option* config, CLI::Option* stateDir, ForwardingFlags& flags) {
  CLI::Option* listen =
      run.add_option("--listen", flags.listen,
                     "without files: the address and port that clients connect to, such as 127.0.0.1:8080, "
                     "or :8080 for all addresses; may be repeated");
  CLI::Option* to = run.add_option("--to", flags.to,
                                   "without files: the origin that gets the requests, such as https://api.example.com; "
                                   "may be repeated");
  listen->type_name("ADDR:PORT")->expected(1)->take_all()->needs(to)->excludes(config);
  to->type_name("URL")->expected(1)->take_all()->needs(listen)->excludes(config)->excludes(stateDir);
  run.add_flag("--print-config", flags.print, "print the objects that --listen and --to stand for, and exit")
      ->needs(to);
}

}  // namespace sluice::server
