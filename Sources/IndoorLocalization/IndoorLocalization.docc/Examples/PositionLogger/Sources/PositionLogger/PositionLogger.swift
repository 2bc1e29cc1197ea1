// A service that logs positions: PositionLogger VENUE [RECORDING]
//
// It uses the Bluetooth adapter of this machine, or a recording, and prints one line for each position. SIGTERM and SIGINT
// end it, as systemd and a terminal do.
import BlueZScanning
import Foundation
import IndoorLocalization
import ScanRecording
import VenuePackets

@main
struct PositionLogger {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        guard let venue = arguments.first, arguments.count <= 2 else {
            end("usage: PositionLogger VENUE [RECORDING]")
        }
        do {
            let venues = LocalVenueSource(paths: [venue])
            if let recording = arguments.dropFirst().first {
                try await log(Localizer(source: RecordingSource(path: recording), venues: venues))
            } else {
                try await log(Localizer(source: BluetoothScanSource(), venues: venues))
            }
        } catch {
            end("\(error)")
        }
    }

    /// Prints the positions of a session until it ends.
    static func log(_ localizer: Localizer) async throws {
        // Subscribe before the start, so that no output is missed.
        let outputs = localizer.outputs
        let signals = stop(localizer, at: [SIGTERM, SIGINT])
        defer { signals.forEach { $0.cancel() } }
        await localizer.start()
        var hasBegun = false
        for await output in outputs {
            switch output.content {
            case .position(let position):
                let metres = [position.x, position.y, position.radius].map { ($0 * 10).rounded() / 10 }
                write(
                    "\(position.instant.seconds) map \(position.mapID) x \(metres[0]) y \(metres[1]) ± \(metres[2]) m "
                        + (position.label ?? ""))
            // An error that the session survives, such as a server that doesn't answer.
            case .error(let error): write("error: \(error)")
            case .state(.error(let error)): throw error
            case .state(let state):
                if hasBegun, state.isOver { return }
                hasBegun = hasBegun || !state.isOver
            default: break
            }
        }
    }

    /// Stops a localizer at signals, as long as the results are kept.
    static func stop(_ localizer: Localizer, at signals: [Int32]) -> [any DispatchSourceSignal] {
        signals.map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler { Task { await localizer.stop() } }
            source.resume()
            return source
        }
    }

    /// Prints a line without a buffer, so that the log gets it at once.
    static func write(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

    static func end(_ message: String) -> Never {
        FileHandle.standardError.write(Data("PositionLogger: \(message)\n".utf8))
        exit(1)
    }
}
