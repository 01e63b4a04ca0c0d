;;;; variables.lsp - how many conses the interpreter takes for a variable.
;;;;
;;;; Usage: ecl --norc --shell variables.lsp prints it; other programs load this.
;;;;
;;;; A variable that bytecodes bind is a cons, (name . value).  Up to ECL 24.5.10
;;;; a second one puts that at the front of the environment, a list; later the
;;;; environment is an array on the stack.  Which it is follows from what the
;;;; collector itself says about calls that differ in nothing else.

(defpackage :variables
  (:use :cl)
  (:export #:conses-per-variable))
(in-package :variables)

(defvar *sink*)

(defun nothing () nil)

(defun variables (&aux a b c d e f g h i j)
  (declare (ignore a b c d e f g h i j))
  nil)

(defun conses ()
  (setq *sink* (cons 1 2)) (setq *sink* (cons 1 2))
  (setq *sink* (cons 1 2)) (setq *sink* (cons 1 2))
  (setq *sink* (cons 1 2)) (setq *sink* (cons 1 2))
  (setq *sink* (cons 1 2)) (setq *sink* (cons 1 2))
  (setq *sink* (cons 1 2)) (setq *sink* (cons 1 2))
  nil)

(defun bytes (function)
  "What the collector gives for ten thousand calls, to a page or so."
  ;; With ECL's own collector what was given since the last collection is counted
  ;; once more each time that one asks.
  (ext:gc t)
  (let ((before (si:gc-stats t)))
    (dotimes (i 10000)
      (funcall function))
    (- (si:gc-stats t) before)))

(defun conses-per-variable ()
  "The number, which is 1 or 2; an error if the collector says neither."
  (let* ((nothing (bytes #'nothing))
         (ratio (/ (- (bytes #'variables) nothing)
                   (- (bytes #'conses) nothing)))
         (number (round ratio)))
    (unless (and (<= 1 number 2) (< (abs (- ratio number)) 1/20))
      (error "a variable takes ~,3f conses" ratio))
    number))

(when (equal (pathname-name (first (last (ext:command-args)))) "variables")
  (format t "~d~%" (conses-per-variable)))
