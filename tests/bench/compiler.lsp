;;;; compiler.lsp - a file to be compiled by ECL, to be measured.
;;;;
;;;; Environment: BENCH_SOURCE, the file; beside it the .fas will be.

(defpackage :bench
  (:use :cl)
  (:export #:*work*))
(defpackage :bank
  (:use :cl))
(in-package :bench)

(require :cmp)

(defun compiled (source)
  "The kind of file that SOURCE becomes; NIL if the compiler fails."
  (let ((*standard-output* (make-broadcast-stream)))
    (pathname-type (compile-file source))))

(defparameter *work* `((compile-file compiled ,(ext:getenv "BENCH_SOURCE")))
  "What to measure: name, function and its argument.")
