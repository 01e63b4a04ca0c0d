;;;; measure.lsp - do the work of some files once and print what it took.
;;;;
;;;; Usage: ecl --norc --shell measure.lsp TOOL FILE..., and with TOOL "mprof", or
;;;; "live", which has it told what is alive, or "512th" and "64kth", which estimate
;;;; that, the environment that oracle/record.lsp wants.
;;;;
;;;; The files set BENCH:*WORK*, a list of (NAME FUNCTION ARGUMENT...).  For
;;;; each a line is printed, "=NAME TIME CHILDREN RESULT": processor time of this
;;;; process and of the processes that it waited for, in microseconds, and what
;;;; the function returned.  The time to load the files is not in it, nor are
;;;; they recorded.  Exits with 1, the reason in the last line, if it fails.

(defpackage :measure
  (:use :cl))
(in-package :measure)

(defvar *clock* (si:find-foreign-symbol "clock" :default :pointer-void 0))

(defun own-time ()
  (si:call-cfun *clock* :long '() '()))

(defun children-time ()
  "From the 16th and 17th field of this file, hundredths of a second."
  (with-open-file (stream "/proc/self/stat")
    (let* ((line (read-line stream))
           ;; The second field is a name in parentheses.
           (rest (subseq line (+ 2 (position #\) line :from-end t)))))
      (with-input-from-string (fields rest)
        (read-char fields)
        (let ((numbers (loop for n = (read fields nil) while n collect n)))
          (* 10000 (+ (nth 12 numbers) (nth 13 numbers))))))))

(defun measure (name function &rest arguments)
  "A line for the output."
  (ext:gc t)
  (let* ((children (children-time))
         (own (own-time))
         (result (apply function arguments)))
    (format nil "=~(~a~) ~d ~d ~a" name
            (- (own-time) own) (- (children-time) children) result)))

(defun fail (condition hook)
  (declare (ignore hook))
  (format t "~a~%" condition)
  (finish-output)
  (ext:quit 1 nil))

(setf ext:*invoke-debugger-hook* #'fail)

(destructuring-bind (tool &rest files) (rest ext:*unprocessed-ecl-command-args*)
  (dolist (file files)
    (load file :verbose nil))
  (let ((work (symbol-value (find-symbol "*WORK*" "BENCH")))
        (profiled (member tool '("mprof" "live" "512th" "64kth") :test #'string=))
        (lines '()))
    (when profiled
      (load (merge-pathnames "../oracle/record.lsp" *load-truename*)
            :verbose nil)
      (funcall (find-symbol "START" "RECORD")
               :live (string/= tool "mprof")
               :sampling (cond ((string= tool "512th") 512)
                               ((string= tool "64kth") 65536)
                               (t 0))))
    (setf lines (loop for job in work collect (apply #'measure job)))
    (when profiled
      (funcall (find-symbol "STOP" "RECORD")))
    (format t "~{~a~%~}" lines)))
