import IndoorVocabulary

/// The current task in a sequence of tasks. The number of a task identifies late results of earlier tasks.
///
/// The task is cancelled when the next task replaces it, and when this value is destroyed.
package struct CurrentTask: ~Copyable, Sendable {
    /// The number of the current task; it increases at each begin and each end of a task.
    package private(set) var number = 0
    private var task: Task<Void, Never>?

    package init() {}

    deinit { task?.cancel() }

    /// The task that runs; nil without one.
    package var running: Task<Void, Never>? { task }

    /// Returns whether the task with a number was neither replaced nor cancelled.
    package func isCurrent(_ number: Int) -> Bool { number == self.number }

    /// Replaces the task with a new one, and passes the new task its number.
    @discardableResult package mutating func begin(_ make: (_ number: Int) -> Task<Void, Never>) -> Task<Void, Never> {
        cancel()
        let next = make(number)
        task = next
        return next
    }

    /// Cancels the task; its later results are ignored.
    package mutating func cancel() {
        task?.cancel()
        task = nil
        number += 1
    }

    /// Ends the task from within; returns false if it is no longer the current one.
    mutating func finish(_ number: Int) -> Bool {
        guard isCurrent(number) else { return false }
        task = nil
        self.number += 1
        return true
    }
}

extension CurrentTask {
    /// Begins to scan a source, and passes each reading and then the end of the scan to an actor.
    ///
    /// - Parameters:
    ///   - timing: the timing of the radio; nil for the default of the source.
    ///   - receive: receives a reading and the number of this task, which another task may have replaced in the
    ///     meantime.
    ///   - report: receives an error after which the scan continues, and the number; in the order of the source.
    ///   - finish: receives the error (nil if the source has ended) and the number, after all reported errors.
    package mutating func scan<Shell: Actor>(
        _ source: any ScanSource, timing: ScanTiming? = nil, for shell: Shell,
        receive: @escaping @Sendable (isolated Shell, SensorReading, Int) async -> Void,
        report: @escaping @Sendable (isolated Shell, LocalizationError, Int) async -> Void,
        finish: @escaping @Sendable (isolated Shell, (any Error)?, Int) async -> Void
    ) {
        // The number of the task that replaces this one.
        let next = number + 1
        let (errors, continuation) = AsyncStream.makeStream(of: LocalizationError.self)
        let readings = source.beginReadings(timing: timing) { continuation.yield($0) }
        let reporting = Task { [weak shell] in
            for await error in errors {
                guard let shell else { return }
                await report(shell, error, next)
            }
        }
        follow(readings, for: shell, receive: receive) { shell, error, number in
            continuation.finish()
            await reporting.value
            await finish(shell, error, number)
        } atExit: {
            continuation.finish()
        }
    }

    /// Passes each element of a stream and then the end of the stream to an actor, until the actor is destroyed.
    ///
    /// - Parameters:
    ///   - receive: receives an element and the number of this task, which another task may have replaced in the
    ///     meantime.
    ///   - finish: receives the error (nil if the stream has ended) and the number.
    ///   - exit: is called when the task ends, also if it was cancelled.
    package mutating func follow<Shell: Actor, Element: Sendable>(
        _ stream: AsyncThrowingStream<Element, any Error>, for shell: Shell,
        receive: @escaping @Sendable (isolated Shell, Element, Int) async -> Void,
        finish: @escaping @Sendable (isolated Shell, (any Error)?, Int) async -> Void,
        atExit exit: @escaping @Sendable () -> Void = {}
    ) {
        begin { number in
            Task { [weak shell] in
                defer { exit() }
                do {
                    for try await element in stream {
                        guard let shell, !Task.isCancelled else { return }
                        await receive(shell, element, number)
                    }
                    if let shell { await finish(shell, nil, number) }
                } catch {
                    if let shell { await finish(shell, error, number) }
                }
            }
        }
    }

    /// Passes each element of a stream to an actor, until the stream ends or the actor is destroyed.
    package mutating func follow<Shell: Actor, Element: Sendable>(
        _ stream: AsyncStream<Element>, for shell: Shell,
        receive: @escaping @Sendable (isolated Shell, Element, Int) async -> Void
    ) {
        begin { number in
            Task { [weak shell] in
                for await element in stream {
                    guard let shell, !Task.isCancelled else { return }
                    await receive(shell, element, number)
                }
            }
        }
    }
}
