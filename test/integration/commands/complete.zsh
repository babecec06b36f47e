# zsh -f complete.zsh SLUICE LINE...: prints what each line becomes in an interactive zsh when TAB is pressed at its end.
# There, ^T prints the line between marks and takes it away. Keys are sent only while the editor reads them, because the
# terminal itself would take some of them before.
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PROMPT= HISTFILE= TERM=dumb; autoload -U compinit; compinit -u -D; source <($1 completion zsh)"
zpty -w shell 'show() { print -r -- "@@$BUFFER@@"; BUFFER= }; zle -N show; bindkey "^T" show'
zpty -w shell 'zle-line-init() { print "rea""dy" }; zle -N zle-line-init'
zpty -r shell text '*ready*'
shift
for line in "$@"; do
  zpty -w -n shell "$line"$'\t\x14'
  zpty -r shell text '*@@*@@*'
  text=${text#*@@}
  print -r -- "${text%%@@*}"
done
