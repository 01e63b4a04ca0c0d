;;;; alive.lisp - programs that keep what is known, for run-alive.test.

(defpackage "ALIVE"
  (:use "COMMON-LISP"))
(in-package "ALIVE")

(defvar *kept* (make-array 2000 :initial-element nil)
  "Each cons by itself: one that a stack still has a word of keeps no other.")
(defvar *count* 0)
(defvar *failed* nil)

(defmacro expect (form value)
  "Complain unless FORM gives VALUE."
  `(let ((found ,form))
     (unless (equal found ,value)
       (setf *failed* t)
       (format t "~&FAIL ~S is ~S and not ~S~%" ',form found ,value))))

(defun make-kept (n)
  "N conses that stay."
  (dotimes (i n)
    (setf (svref *kept* *count*) (list i))
    (incf *count*)))

(defun drop-kept (from to)
  "Forget those of them."
  (fill *kept* nil :start from :end to)
  (setf *count* (min *count* from)))

(defmacro expect-between (least form most)
  "Complain unless FORM gives an integer from LEAST to MOST."
  `(let ((found ,form))
     (unless (<= ,least found ,most)
       (setf *failed* t)
       (format t "~&FAIL ~S is ~S and not from ~S to ~S~%"
               ',form found ,least ,most))))

(defmacro expect-about (form value)
  "FORM gives VALUE, but for two that a stack or a register may have."
  `(expect-between ,value ,form (+ ,value 2)))

(defun make-short-lived (n)
  "As many that do not, but for the last."
  (let ((last nil))
    (dotimes (i n last)
      (setf last (list i)))))

(defun make-strings (n)
  "A vector of N strings."
  (map-into (make-array n) (lambda () (make-string 10))))

(defun numbers (profile name)
  "Allocations and bytes of the function NAME itself."
  (let ((function (mprof:find-function name profile)))
    (if function
        (list (mprof:function-self-allocs function)
              (mprof:function-self-bytes function))
        '(0 0))))

(defun clear-stack (&optional (n 200))
  "Nothing of what was called before is to be left on the stack."
  (let ((room (make-list n)))
    (declare (dynamic-extent room))
    (if (zerop n) (length room) (clear-stack (1- n)))))

(defun work ()
  (make-kept 1000)
  (make-short-lived 5000)
  (clear-stack))

(defun test-known ()
  (drop-kept 0 2000)
  (mprof:reset)
  (mprof:start :live t)
  (work)
  (mprof:stop)
  (let ((profile (mprof:live-profile)))
    (expect (numbers profile "ALIVE::MAKE-KEPT") '(1000 16000))
    (expect-about (first (numbers profile "ALIVE::MAKE-SHORT-LIVED")) 0))
  (expect (numbers (mprof:current-profile) "ALIVE::MAKE-KEPT") '(1000 16000))
  (expect (numbers (mprof:current-profile) "ALIVE::MAKE-SHORT-LIVED")
          '(5000 80000)))

(defun test-snapshots ()
  (drop-kept 0 2000)
  (mprof:reset)
  (mprof:start :live t)
  (make-kept 100)
  (let ((one (mprof:snapshot)) two)
    (make-kept 20)
    (setf two (mprof:snapshot))
    (make-kept 3)
    (flet ((kept (&rest options)
             (first (numbers (apply #'mprof:live-profile options)
                             "ALIVE::MAKE-KEPT"))))
      (expect (kept) 123)
      (expect (kept :since one) 23)
      (expect (kept :since two) 3)
      (expect (kept :until one) 100)
      (expect (kept :since one :until two) 20)
      (drop-kept 110 2000)
      (clear-stack)
      (expect-about (kept :since one) 10)
      (expect-about (kept :since two) 0)
      (drop-kept 0 2000)
      (clear-stack)
      (expect-about (kept) 0))
    (mprof:stop)
    (expect-about (first (numbers (mprof:live-profile :since one)
                                  "ALIVE::MAKE-KEPT"))
                  0)))

(defvar *back* (make-array 200))
(defvar *back-count* 0)

(defun bring-back (object)
  "Without allocating, as other finalizers would run meanwhile."
  (setf (svref *back* *back-count*) object)
  (incf *back-count*))

(defun make-finalized (n)
  "N vectors that their finalizers bring back."
  (dotimes (i n)
    (ext:set-finalizer (make-array 8) 'bring-back)))

(defun make-weak (n)
  "Weak pointers to N strings that nobody else has."
  (loop repeat n collect (ext:make-weak-pointer (make-string 50))))

(defun strings-alive (pointers)
  (count-if #'ext:weak-pointer-value pointers))

(defun test-weak ()
  (mprof:reset)
  (mprof:start :live t)
  (let ((pointers (make-weak 300)))
    (make-finalized 200)
    (clear-stack)
    (dotimes (i 3)
      (ext:gc t)
      (clear-stack))
    (mprof:stop)
    ;; What we keep of an object keeps it not alive.
    (expect-between 0 (strings-alive pointers) 3)
    (expect-between 198 *back-count* 200)
    ;; A vector and its elements each
    (let ((alive (find "vector" (mprof:profile-bins (mprof:live-profile))
                       :key #'mprof:bin-type :test #'equal)))
      (expect-between (* 2 *back-count*)
                      (+ (mprof:bin-objects alive) (mprof:bin-storage alive))
                      408))))

(defun test-stop-and-start ()
  "What dies while nothing is recorded is dead when it goes on."
  (drop-kept 0 2000)
  (mprof:reset)
  (mprof:start :live t)
  (make-kept 400)
  (mprof:stop)
  (drop-kept 250 2000)
  (clear-stack)
  (ext:gc t)
  ;; In the places of what died.
  (let ((others (make-strings 5000)))
    (mprof:start :live t)
    (make-kept 50)
    (mprof:stop)
    (expect (length others) 5000))
  (expect-about (first (numbers (mprof:live-profile) "ALIVE::MAKE-KEPT")) 300))

(defun test-freed ()
  "What ECL frees itself is dead without a collection, also after a stop."
  (flet ((bytecodes (profile)
           (let ((bin (find "bytecodes" (mprof:profile-bins profile)
                            :key #'mprof:bin-type :test #'equal)))
             (if bin (+ (mprof:bin-objects bin) (mprof:bin-storage bin)) 0)))
         (alive-in-bins ()
           ;; Of a row: type, allocs, objects, bytes, (%), alive
           (let* ((text (mprof:report :stream nil :tables '(:bins)))
                  (row (search " bytecodes " text)))
             (read-from-string text t nil
                               :start (1+ (position #\) text :start row))))))
    (mprof:reset)
    (mprof:start :live t :gc nil)
    (dotimes (i 10)
      (eval '(list 1 2)))
    (mprof:stop)
    (expect (bytecodes (mprof:current-profile)) 20)
    (expect (bytecodes (mprof:live-profile)) 0)
    (expect (alive-in-bins) 0)
    (mprof:start :live t :gc nil)
    (eval '(mprof:stop))
    (mprof:start :live t :gc nil)
    (mprof:stop)
    (expect (bytecodes (mprof:current-profile)) 22)
    (expect (bytecodes (mprof:live-profile)) 0)))

(defun test-without-collection ()
  (drop-kept 0 2000)
  (mprof:reset)
  (mprof:start :live t :gc nil)
  (ext:gc t)
  (make-short-lived 50)
  (mprof:stop)
  (expect (first (numbers (mprof:live-profile) "ALIVE::MAKE-SHORT-LIVED")) 50)
  (expect (and (search "or were allocated since the last collection"
                       (mprof:report :stream nil :verbosity :normal))
               t)
          t))

(defmacro signals (type form)
  `(expect (handler-case (progn ,form nil)
             (,type (condition) (princ-to-string condition) t))
           t))

(defun test-conditions ()
  (mprof:reset)
  (mprof:start)
  (signals mprof:liveness-unknown-error (mprof:snapshot))
  (signals mprof:liveness-unknown-error (mprof:live-profile))
  (mprof:stop)
  (signals mprof:liveness-unknown-error (mprof:report-live :stream nil))
  (mprof:reset)
  (dolist (live '(:yes 3/4 1 0 1/1048577 0.5 -1/512))
    (signals mprof:invalid-argument-error (mprof:start :live live)))
  (mprof:start :live t)
  (signals mprof:invalid-argument-error (mprof:live-profile :since 3))
  (signals mprof:invalid-argument-error
           (let ((one (mprof:snapshot)))
             (mprof:live-profile :since (mprof:snapshot) :until one)))
  (mprof:stop)
  (signals mprof:invalid-argument-error
           (mprof:report-live :tables '(:bins :kept-by) :stream nil))
  (expect (and (search "alive" (mprof:report-live :tables t :stream nil)) t) t)
  (mprof:reset))

(defun test-forms ()
  "WITH-PROFILING takes :LIVE."
  (drop-kept 0 2000)
  (let ((text (mprof:with-profiling (:live t :stream nil) (make-kept 1000))))
    (expect (and (search "What is alive" text) t) t)
    (expect (and (search "bytes alive" text) t) t)))

(defconstant +nodes+ 30)
(defconstant +graphs+ 1000)
(defvar *graphs* (make-array +graphs+ :initial-element nil))

(defstruct node edges)

(defun make-nodes ()
  (map-into (make-array +nodes+) #'make-node))

(defun make-graph (chance)
  "A root of a random graph, or NIL, and how many of its nodes that leads to, as the
numbers say, not the objects."
  (let ((edges (map-into (make-array +nodes+)
                         (lambda ()
                           (loop repeat (random 4 chance)
                                 collect (random +nodes+ chance)))))
        (nodes (make-nodes))
        (seen (make-array +nodes+ :element-type 'bit :initial-element 0))
        (root (if (zerop (random 3 chance)) nil (random +nodes+ chance))))
    (dotimes (i +nodes+)
      (setf (node-edges (svref nodes i))
            (mapcar (lambda (n) (svref nodes n)) (svref edges i))))
    (labels ((visit (n)
               (when (zerop (bit seen n))
                 (setf (bit seen n) 1)
                 (mapc #'visit (svref edges n)))))
      (when root
        (visit root))
      (values (and root (svref nodes root)) (count 1 seen)))))

(defun make-graphs (chance)
  "New ones in the place of all that there were; how many nodes these lead to."
  (let ((sum 0))
    (dotimes (i +graphs+ sum)
      (multiple-value-bind (root nodes) (make-graph chance)
        (setf (svref *graphs* i) root)
        (incf sum nodes)))))

(defun test-reachable ()
  "What a program can reach is alive, and next to nothing else: what a stack or a
register has a word of is, at most a graph or two.  ALIVE_ROUNDS=N: so many times."
  (let ((chance (make-random-state t)))
    (dotimes (i (parse-integer (or (ext:getenv "ALIVE_ROUNDS") "5")))
      (mprof:reset)
      (mprof:start :live t)
      (let ((nodes (make-graphs chance)))
        (clear-stack)
        (mprof:stop)
        ;; A node is two blocks: what is in its slots is one of its own.
        (expect-between (* 2 nodes)
                        (first (numbers (mprof:live-profile) "ALIVE::MAKE-NODE"))
                        (* 2 (+ nodes (* 2 +nodes+))))))
    (fill *graphs* nil)))

(defun test-estimated ()
  "A byte in 16 is looked at, by which 16000 bytes are found to be that, give or take
five standard errors."
  (drop-kept 0 2000)
  (mprof:reset)
  (mprof:start :live 1/16)
  (make-kept 1000)
  (let ((one (mprof:snapshot)))
    (make-kept 1000)
    (make-short-lived 5000)
    (signals mprof:sampled-error
             (mprof:with-allocation-limit (:bytes 100000) (make-short-lived 10)))
    (clear-stack)
    (mprof:stop)
    (flet ((bytes (profile name)
             (second (numbers profile name))))
      (expect-between 28422 (bytes (mprof:current-profile) "ALIVE::MAKE-KEPT") 35578)
      (expect-between 28422 (bytes (mprof:live-profile) "ALIVE::MAKE-KEPT") 35578)
      (expect-between 13470 (bytes (mprof:live-profile :since one) "ALIVE::MAKE-KEPT")
                      18530)
      (expect-between 13470 (bytes (mprof:live-profile :until one) "ALIVE::MAKE-KEPT")
                      18530)
      (expect-between 0 (bytes (mprof:live-profile) "ALIVE::MAKE-SHORT-LIVED") 300)
      (expect-between 74343 (bytes (mprof:current-profile) "ALIVE::MAKE-SHORT-LIVED")
                      85657)))
  (let ((text (mprof:report :stream nil :verbosity :normal)))
    (expect (and (search "All numbers are estimated: one byte in 16 was" text) t) t)
    (expect (and (search "What is alive, estimated" text) t) t))
  (mprof:reset)
  ;; Those that are alive are no older for those that died.
  (drop-kept 0 2000)
  (mprof:start :live 1/16)
  (make-kept 2000)
  (dotimes (i 3)
    (ext:gc t))
  (drop-kept 0 1900)
  (clear-stack)
  (mprof:stop)
  (let* ((text (mprof:report :stream nil :tables '(:alive)))
         (row (or (search "% " text :end2 (search "MAKE-KEPT" text) :from-end t) 0)))
    (multiple-value-bind (objects end)
        (read-from-string text nil 0 :start (+ row 2))
      (expect-between 1 objects 400)
      (expect-between 4 (read-from-string text nil 0 :start end) 6)))
  ;; Another part is another recording, and so is all.
  (mprof:start :live t)
  (mprof:stop)
  (expect (search "stimated" (mprof:report :stream nil :verbosity :normal)) nil)
  (mprof:reset))

(defun run-all ()
  (test-known)
  (test-snapshots)
  (test-weak)
  (test-stop-and-start)
  (test-freed)
  (test-without-collection)
  (test-conditions)
  (test-forms)
  (test-reachable)
  (test-estimated)
  (ext:quit (if *failed* 1 0)))
