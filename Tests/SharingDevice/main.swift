// A device that shares positions with others, and prints what it hears, until its input ends:
// SharingDevice PORT DEVICE ROOM
// Its x is what stands on each line that it reads.

import Foundation
import IndoorLocalization
import MQTTSharing

let words = CommandLine.arguments
guard words.count == 4, let port = UInt16(words[1]) else {
    print("usage: SharingDevice PORT DEVICE ROOM")
    exit(2)
}
var settings = MQTTSharingSettings()
settings.interval = .zero
settings.firstPause = .milliseconds(50)
let sharing = try MQTTPositionSharing(
    MQTTBroker(host: "127.0.0.1", port: port), device: DeviceID(words[2]), settings: settings)

@Sendable func tell(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}

let events = sharing.events
// Not on the main thread, which waits for lines.
Task.detached {
    for await event in events {
        switch event {
        case .joined(let room): tell("joined \(room)")
        case .position(let position): tell("position \(position.device) \(position.x)")
        case .message(let message): tell("message \(message.device) \(message.tag) \(message.text)")
        case .occupancy(let room, let devices): tell("occupancy \(room) \(devices)")
        default: break
        }
    }
}
try await sharing.connect()
try await sharing.join(words[3])
while let line = readLine() {
    guard let x = Double(line) else { continue }
    try await sharing.share(
        Position(instant: .zero, venueID: 1, mapID: 2, point: MapPoint(x: x, y: 0), radius: 1))
}
await sharing.disconnect()
