;;;; count.lisp - numbers without a recording: allocations of a form, and the size of
;;;; the heap.

(in-package "MPROF")

(defun call-counting (function which)
  "Call FUNCTION without arguments.  Returns how many blocks its thread allocated
meanwhile, for WHICH :ALLOCATIONS, or bytes, for :BYTES; then FUNCTION's values."
  (let ((done t)
        (finish (lambda (&rest values)
                  (multiple-value-bind (allocs bytes) (%counted)
                    (values-list
                     (cons (ecase which (:allocations allocs) (:bytes bytes))
                           values))))))
    ;; Nothing in here may allocate but FUNCTION.
    (multiple-value-call finish
      (unwind-protect
           (progn
             (%count-begin)
             (setf done nil)
             (multiple-value-prog1 (funcall function)
               (%count-end)
               (setf done t)))
        (unless done
          (%count-end))))))

(defmacro bytes-allocated (form)
  "Evaluate FORM.  Returns the bytes that this thread allocated in the Lisp heap
meanwhile, exactly; and FORM's values after that.  Nothing is recorded for it, and
it costs next to nothing.  FORM may contain other such forms; their own allocations
count, too."
  `(call-counting (lambda () ,form) :bytes))

(defmacro allocations (form)
  "The same as BYTES-ALLOCATED for the number of blocks: objects, and the storage
that they own."
  `(call-counting (lambda () ,form) :allocations))

(defun heap-current ()
  "Bytes of the Lisp heap in blocks that are in use, with what the collector has
not found to be garbage yet."
  (values (%mprof-lisp-heap-current)))

(defun heap-peak ()
  "The most bytes that were in use, before a collection or when HEAP-CURRENT or
HEAP-PEAK was called, since the first of these calls or the first recording."
  (values (%mprof-lisp-heap-peak)))
