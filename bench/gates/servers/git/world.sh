# A repository with three commits and two branches, a staged file, a changed one and a new one; all dates are fixed.
export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=Author GIT_AUTHOR_EMAIL=author@example.com TZ=UTC
export GIT_COMMITTER_NAME=Author GIT_COMMITTER_EMAIL=author@example.com
at() { export GIT_AUTHOR_DATE="$1" GIT_COMMITTER_DATE="$1"; }
git init --quiet --initial-branch=main repo && cd repo
at '2024-01-02T03:04:05Z'
printf 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n' > numbers.txt
mkdir docs && printf 'Hello\n' > docs/hello.md
git add . && git commit --quiet -m 'First commit'
at '2024-02-03T04:05:06Z'
git checkout --quiet -b feature
printf 'feature\n' > feature.txt && git add . && git commit --quiet -m 'Add a feature'
git checkout --quiet main
at '2024-03-04T05:06:07Z'
sed -i 's/five/FIVE/' numbers.txt && git commit --quiet -am 'Shout five' -m 'With a body.'
printf 'staged\n' > staged.txt && git add staged.txt
sed -i 's/two/TWO/' numbers.txt
printf 'new\n' > untracked.txt
mkdir ../plain
