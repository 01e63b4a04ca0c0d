;;;; maxima.lsp - algebra with Maxima, to be measured.
;;;;
;;;; Environment: MPROF_MAXIMA, the maxima.fas of Debian's package maxima-sage.

(defpackage :bench
  (:use :cl)
  (:export #:*work*))
(in-package :bench)

(load (ext:getenv "MPROF_MAXIMA") :verbose nil)
(funcall (intern "INITIALIZE-RUNTIME-GLOBALS" "MAXIMA"))

(defun maxima (name &rest arguments)
  (apply (intern name "MAXIMA") arguments))

(defun evaluate (input)
  "Maxima's answer to the string INPUT, as a string."
  (let ((*package* (find-package "MAXIMA")))
    (with-input-from-string (stream (concatenate 'string input ";"))
      (let ((expression (third (maxima "MREAD" stream))))
        (coerce (maxima "MSTRING" (maxima "MEVAL" expression)) 'string)))))

(defun ask (input times)
  "Evaluate INPUT TIMES times; its answer's length, and a hash of it."
  (let ((answer ""))
    (dotimes (i times)
      (setf answer (evaluate input)))
    (format nil "~d,~d" (length answer) (sxhash answer))))

;; Maxima keeps what it found out once, such as the factors of 60.
(dolist (input '("factor(x^60-1)" "expand((x+y+z)^14)"))
  (ask input 1))

(defparameter *work*
  '((factor ask "factor(x^60-1)" 1000)
    (expand ask "expand((x+y+z)^14)" 100)
    (taylor ask "taylor(sin(tan(x))-tan(sin(x)),x,0,35)" 60))
  "What to measure: name, function and its arguments; 2 to 5 s each.")
