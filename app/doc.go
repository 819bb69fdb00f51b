// Package app is what the product decides: one sub-package for each subject.
// It keeps the kinds of refusal that all of them share.
package app
