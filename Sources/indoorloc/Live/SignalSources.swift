import Foundation

/// The sources of signals that a command handles itself.
///
/// Dispatch installs a signal's handler on another thread, some time after the activation of its source. If the program
/// ignored the signal before that, a signal could be lost, and the command would never end. Therefore the initializer
/// returns after the handlers are installed; until then, a signal has its default action.
package struct SignalSources {
    private let sources: [any DispatchSourceSignal]

    /// Installs handlers for signals.
    ///
    /// - Parameters:
    ///   - signals: the numbers of the signals.
    ///   - handler: handles a signal by its number.
    package init(_ signals: [Int32], _ handler: @escaping @Sendable (Int32) -> Void) {
        let installed = DispatchGroup()
        sources = signals.map { signal in
            installed.enter()
            let source = DispatchSource.makeSignalSource(signal: signal)
            source.setEventHandler { handler(signal) }
            source.setRegistrationHandler { installed.leave() }
            source.activate()
            return source
        }
        installed.wait()
    }

    /// Ends the handling.
    package func cancel() { sources.forEach { $0.cancel() } }
}
