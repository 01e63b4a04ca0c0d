;;;; types.lsp - ever new chains that end in functions of which each makes objects of
;;;; one type, from a fixed seed; in threads, too, where there are any.
;;;;
;;;; Prints for each of these functions its name, the type, and how many it made.

(defstruct sheep name)
(defstruct goat name age)
(defclass herd () ((sheep :initarg :sheep)))
(allocate-instance (find-class 'herd))  ; the first one prepares the class

(defun shear (n) (dotimes (i n) (make-sheep :name i)))
(defun milk (n) (dotimes (i n) (make-goat :age i)))
(defun gather (n) (dotimes (i n) (make-hash-table)))
(defun drive (n) (dotimes (i n) (allocate-instance (find-class 'herd))))

(defvar *makers*
  '((shear . "SHEEP") (milk . "GOAT") (gather . "hash-table") (drive . "HERD")))

;; What a thread did: made, in the order of the makers; seed, steps.
(defvar *made*)
(defvar *seed*)
(defvar *steps*)

(defun next (n)
  (setf *seed* (logand #xffffff (+ (* *seed* 69069) 12345)))
  (mod (ash *seed* -6) n))

(defun make (n)
  (let ((maker (next 4)))
    (incf (nth maker *made*) n)
    (funcall (car (nth maker *makers*)) n)))

(defvar *walkers* '(ant bee cat dog eel fox gnu hen))

(defun go-on (depth)
  (loop while (and (plusp depth) (plusp *steps*) (< (next 30) depth))
        do (decf *steps*)
           (funcall (nth (next 8) *walkers*) (1- depth))))

(defmacro define-walkers ()
  `(progn
     ,@(loop for name in *walkers*
             for n from 1
             collect `(defun ,name (depth)
                        (when (zerop (next 3)) (make ,n))
                        (go-on depth)))))
(define-walkers)

(defun walk (seed steps)
  "What was made, in the order of the makers."
  (let ((*made* (list 0 0 0 0)) (*seed* seed) (*steps* steps))
    (loop while (plusp *steps*) do (go-on 30))
    *made*))

(defun walk-in-thread (seed steps)
  #+threads
  (let* ((made nil)
         (thread (mp:process-run-function
                  'walker (lambda () (setf made (walk seed steps))))))
    (mp:process-join thread)
    made)
  #-threads
  (walk seed steps))

(let ((made (mapcar #'+ (walk 1988 3000) (walk-in-thread 2024 1000)
                    (walk-in-thread 7 300))))
  (loop for (maker . type) in *makers*
        for n in made
        do (format t "~a ~a ~d~%" maker type n)))
