//go:build !race

package api

const racing = false
