;;;; More bytes, at one place, than 31 bits count.
(in-package :cl-user)
(defvar *kept* nil)

(defun strings (n size)
  (dotimes (i n)
    (make-string size :element-type 'base-char)
    (push i *kept*)))

(compile 'strings)
(oracle:with-counts ()
  (strings 30000 100000)
  (strings 10000 10))
