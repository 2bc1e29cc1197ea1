// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "RoomKiosk",
    dependencies: [
        // The checkout that contains this example. In your package: .package(path: "../IndoorLocalization")
        .package(name: "IndoorLocalization", path: "../../../../..")
    ],
    targets: [
        .executableTarget(
            name: "RoomKiosk",
            dependencies: [
                .product(name: "IndoorLocalization", package: "IndoorLocalization"),
                .product(name: "ScanRecording", package: "IndoorLocalization"),
                .product(name: "VenuePackets", package: "IndoorLocalization"),
            ])
    ]
)
