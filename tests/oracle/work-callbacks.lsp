;;;; C calls Lisp through libffi: qsort with a comparison that allocates.
;;;; No collection meanwhile: what a callback needs is known to libffi only, and
;;;; ECL lets it be collected.
(in-package :cl-user)
(defun collector (name)
  "Call the collector's function NAME."
  (si:call-cfun (si:find-foreign-symbol name :default :pointer-void 0)
                :void '() '()))
(collector "GC_disable")
(ffi:defcallback compare :int ((a :pointer-void) (b :pointer-void))
  (let ((a (si:foreign-data-ref-elt (si:foreign-data-recast a 4 :int) 0 :int))
        (b (si:foreign-data-ref-elt (si:foreign-data-recast b 4 :int) 0 :int)))
    (signum (- (car (list a)) (car (list b))))))
(let ((n 200)
      (qsort (si:find-foreign-symbol "qsort" :default :pointer-void 0)))
  (oracle:start)
  (let ((array (si:allocate-foreign-data :int (* 4 n))))
    (dotimes (i n)
      (si:foreign-data-set-elt array (* 4 i) :int (mod (* 7919 i) 1009)))
    (si:call-cfun qsort :void '(:pointer-void :uint64-t :uint64-t :pointer-void)
                  (list array n 4 (ffi:callback 'compare)))
    (oracle:stop)
    (loop for i from 1 below n
          do (assert (<= (si:foreign-data-ref-elt array (* 4 (1- i)) :int)
                         (si:foreign-data-ref-elt array (* 4 i) :int))))))
(collector "GC_enable")
