// Package cachetest is the suite that every implementation of cache.Cache
// passes.
package cachetest
