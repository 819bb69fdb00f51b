// Package content is what stands in a post: it checks it, finds what links somewhere, and
// renders it as HTML.
//
// A text is kept as it was written and is rendered at each read, so that a name, a rule or
// the public address may change. Twenty to forty posts are rendered for a page of the home
// timeline. So there is one pass by hand and no regular expression: a text of 300 bytes
// that links nowhere takes half a microsecond. (The well-kept library for web addresses,
// mvdan.cc/xurls, took 6 µs for one address and 8 µs for a text of that length without
// any.) BenchmarkHTML has figures.
//
// Three kinds of Part link somewhere:
//
//   - a mention: @name or @name@domain. Whether there is such an account is for others to
//     say. It does not begin within a word, an e-mail address or a path. Letters
//     of a script without capitals make no word here, as Chinese has no spaces.
//   - a tag: # with letters of any script, digits and underscores, at least one letter.
//   - a web address: http:// or https:// and a host. Its end is that of GitHub's Markdown:
//     punctuation and brackets that do not pair are not part of it. An address with a user
//     and password in it is none, as it shows another host than the one it leads to.
//
// Nothing that a user writes becomes markup: every byte of a text passes the one function
// that escapes, parts too, and addresses begin with http. Finding and rendering is linear in
// the length of a text, whatever stands in it; tags and names are compared with each other,
// and 500 characters bound those.
//
// Texts are counted as Mastodon's clients count: by what a reader sees as a character, an
// address as 23, a mention without its domain, the content warning too. As a character of
// these can have any number of bytes, there is a bound in bytes as well.
package content
