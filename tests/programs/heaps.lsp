;;;; heaps.lsp - allocates on both heaps, a known number of times.  The library
;;;; made of heaps.c is heaps.so in the working directory.

(defpackage "HEAPS" (:use "COMMON-LISP"))
(in-package "HEAPS")

(defun c-function (name)
  (si:find-foreign-symbol name (namestring (merge-pathnames "heaps.so" (si:getcwd))) :pointer-void 0))

(defparameter *grab* (c-function "heaps_grab"))
(defparameter *give-back* (c-function "heaps_give_back"))

(defun grab (bytes)
  "BYTES bytes of the C heap."
  (si:call-cfun *grab* :pointer-void '(:unsigned-long) (list bytes)))

(defun give-back (pointer)
  (si:call-cfun *give-back* :void '(:pointer-void) (list pointer)))

(defun keep-some (count)
  "Grab COUNT blocks and give back every second."
  (loop for i below count
        for block = (grab 100)
        when (evenp i) do (give-back block)))

(defun main ()
  (keep-some 1000)
  (let ((floats (loop for i below 1000 collect (* i 1.5d0))))
    (format t "~D floats~%" (length floats))))

(main)
