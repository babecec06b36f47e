# Leaves groups out of a file of client-go that lists them.
# usage: awk -v groups="apps/v1 core/v1 ..." -f lean.awk FILE     with the groups that stay
# The code is generated, so that lines are enough to know: an import of a group goes, and every line that mentions it,
# with the function or the case that such a line begins.
BEGIN {
    count = split(groups, list)
    for (i = 1; i <= count; i++) {
        split(list[i], part, "/")
        stays[part[1]]         # informers/apps
        stays[part[1] part[2]] # api/apps/v1, scale/scheme/appsv1
    }
    stays["internalinterfaces"]
}
ending { if ($0 ~ ending) ending = ""; next }
$2 ~ "^\"k8s.io/(api|client-go/informers|client-go/kubernetes/typed|client-go/scale/scheme)/" {
    group = $2
    gsub("^.*(api|informers|typed|scheme)/|[/\"]", "", group)
    if (!(group in stays)) { gone[$1]; next }
}
mentions($0) { if (/^func/) ending = "^}"; else if (/^\tcase/) ending = "return"; next }
{ print }
function mentions(line) {
    while (match(line, /[A-Za-z0-9]+\./)) {
        if (substr(line, RSTART, RLENGTH - 1) in gone) return 1
        line = substr(line, RSTART + RLENGTH)
    }
    return 0
}
