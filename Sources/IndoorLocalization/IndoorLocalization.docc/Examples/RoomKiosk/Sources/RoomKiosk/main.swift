// A guide that reacts to rooms: RoomKiosk VENUE RECORDING
//
// It shows a text when the visitor enters a room. A real guide has a radio as its source, see the example PositionLogger.
import Foundation
import IndoorLocalization
import ScanRecording
import VenuePackets

/// Prints an error and ends the program.
func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("\(message)\n".utf8))
    exit(1)
}

/// The text of each room. The default is the name of the room.
let texts = ["Kitchen": "The coffee machine is on your left.", "Lobby": "Welcome! Please sign the visitors' book."]

let arguments = CommandLine.arguments.dropFirst()
guard let venue = arguments.first, let recording = arguments.dropFirst().first else {
    fail("usage: RoomKiosk VENUE RECORDING")
}
let localizer = Localizer(
    source: RecordingSource(path: recording), venues: LocalVenueSource(paths: [venue]))

// The localizer waits until the visitor has been in a room for a while before it reports the room, so that the texts don't
// flicker at a door.
let visits = localizer.watch(\.events) { event in
    switch event.kind {
    case .enterRoom(let room): print("\(room.name): \(texts[room.name] ?? "You are in \(room.name).")")
    case .exitRoom(let room): print("\(room.name): goodbye")
    default: break
    }
}

let states = localizer.states.dropFirst()
await localizer.start()
for await state in states where state.isOver {
    visits.close()
    if case .error(let error) = state {
        fail("RoomKiosk: \(error)")
    }
    break
}
