// Package cachetest is the suite that every implementation of cache.Cache
// passes, and a cache for the tests of those who use one.
package cachetest
